//! The registries of workloads and of the distributions of sizes and times.

use narrows_base::registry::{Info, Parameter, ParameterDefault, Role, Unit};

/// Every workload, by name.
pub static WORKLOADS: &[&Info] =
    &[&POISSON, &ARRIVALS, &ON_OFF, &REQUESTS, &VIDEO, &ADAPTIVE_VIDEO, &WEB, &UDP, &PING, &MEDIA];

/// The longest payload of a datagram in a packet of 1500 bytes.
pub const LONGEST_DATAGRAM: u64 = 1_472;

/// Every distribution, by name.
pub static DISTRIBUTIONS: &[&Info] = &[&EXPONENTIAL, &UNIFORM, &LOGNORMAL, &PARETO, &EMPIRICAL];

static POISSON: Info = Info {
    name: "poisson",
    title: "Poisson arrivals",
    family: "arrivals",
    summary: "new connections at random instants, whether or not earlier ones are done",
    source: "exponential gaps, as in a Poisson process",
    role: Role::Workload,
    parameters: &[
        Parameter::new(
            "rate",
            Unit::Frequency,
            ParameterDefault::Required,
            "mean number of connections in a time: \"5/s\", \"300/min\" or \"20/h\"",
        ),
        SIZE,
    ],
};

static ARRIVALS: Info = Info {
    name: "arrivals",
    title: "Arrivals",
    family: "arrivals",
    summary: "new connections, with any distribution of the gaps",
    source: "a renewal process",
    role: Role::Workload,
    parameters: &[
        Parameter::new(
            "gap",
            Unit::Durations,
            ParameterDefault::Required,
            "from the beginning of one connection to that of the next",
        ),
        SIZE,
    ],
};

static ON_OFF: Info = Info {
    name: "on_off",
    title: "On and off",
    family: "session",
    summary: "one connection that sends as much as possible for a while, then nothing for a while",
    source: "an on-off source",
    role: Role::Workload,
    parameters: &[
        Parameter::new("on", Unit::Durations, ParameterDefault::Required, "how long it sends"),
        Parameter::new(
            "first",
            Unit::Duration,
            ParameterDefault::Off,
            "how long it sends the first time, if that differs",
        ),
        Parameter::new("off", Unit::Durations, ParameterDefault::Required, "how long it is silent"),
    ],
};

static REQUESTS: Info = Info {
    name: "requests",
    title: "Requests",
    family: "session",
    summary: "one connection that answers one request after another",
    source: "a closed loop of requests, answers and thinking",
    role: Role::Workload,
    parameters: &[
        SIZE,
        Parameter::new(
            "think",
            Unit::Durations,
            ParameterDefault::Whole(0),
            "from the end of an answer to the next request",
        ),
    ],
};

static VIDEO: Info = Info {
    name: "video",
    title: "Video",
    family: "session",
    summary: "one connection with chunks that a player requests while its buffer has room",
    source: "a player of constant bitrate that fetches one chunk at a time",
    role: Role::Workload,
    parameters: &[
        Parameter::rate("bitrate", ParameterDefault::Required, "bits for a second of the video"),
        CHUNK,
        START,
        BUFFER,
    ],
};

static ADAPTIVE_VIDEO: Info = Info {
    name: "adaptive_video",
    title: "Adaptive video",
    family: "session",
    summary: "a video whose player chooses the bitrate of each chunk by the level of its buffer",
    source: "BBA-0 of Huang et al., SIGCOMM 2014, with its reservoir of 3/8 and its upper end at \
             9/10 of the buffer",
    role: Role::Workload,
    parameters: &[
        Parameter::new(
            "bitrates",
            Unit::RateList,
            ParameterDefault::Required,
            "the bitrates to choose from: `[\"1mbit\", \"2.5mbit\", \"5mbit\"]`",
        ),
        CHUNK,
        START,
        BUFFER,
    ],
};

static WEB: Info = Info {
    name: "web",
    title: "Web pages",
    family: "session",
    summary: "pages one after another, whose objects refer to further objects; a completion is a \
              page with all of them",
    source: "HTTP/1.1 (RFC 9112) over six connections as in browsers, HTTP/2 (RFC 9113) over one",
    role: Role::Workload,
    parameters: &[
        Parameter::new(
            "html",
            Unit::Sizes,
            ParameterDefault::Required,
            "payload of a page's first object, which refers to the first level",
        ),
        SIZE,
        Parameter::whole("objects", ParameterDefault::Whole(30), "objects besides the first")
            .at_most(MOST_OBJECTS),
        Parameter::whole(
            "levels",
            ParameterDefault::Whole(2),
            "levels of these objects: each is referred to by one of the level before, and requested \
             when that has arrived",
        )
        .positive()
        .at_most(MOST_OBJECTS),
        Parameter::word(
            "http",
            &["1.1", "2"],
            "2",
            "six connections with an object at a time each, or one with all objects in the order of \
             their requests",
        ),
        Parameter::new(
            "think",
            Unit::Durations,
            ParameterDefault::secs(1),
            "from the end of a page to the next",
        ),
    ],
};

/// The most objects of a page.
pub const MOST_OBJECTS: u64 = 10_000;

static UDP: Info = Info {
    name: "udp",
    title: "UDP",
    family: "datagrams",
    summary: "datagrams at a constant rate, whether or not they arrive; with `cca = \"none\"`",
    source: "a source of constant bit rate, as `iperf3 -u`",
    role: Role::Workload,
    parameters: &[
        Parameter::rate("rate", ParameterDefault::Required, "bits of payload in a second"),
        Parameter::bytes("size", ParameterDefault::Whole(1_200), "payload of a datagram")
            .positive()
            .at_most(LONGEST_DATAGRAM),
        Parameter::whole("burst", ParameterDefault::Whole(1), "datagrams that leave at once")
            .positive()
            .at_most(10_000),
    ],
};

static PING: Info = Info {
    name: "ping",
    title: "Ping",
    family: "datagrams",
    summary: "probes that the other end sends back, to measure the RTT without a congestion \
              control; with `cca = \"none\"`",
    source: "RFC 862, as the probes of the RRUL test of flent",
    role: Role::Workload,
    parameters: &[
        Parameter::duration("interval", ParameterDefault::ms(200), "from one probe to the next")
            .positive(),
        Parameter::bytes("size", ParameterDefault::Whole(56), "payload of a probe")
            .positive()
            .at_most(LONGEST_DATAGRAM),
    ],
};

static MEDIA: Info = Info {
    name: "media",
    title: "Real-time media",
    family: "datagrams",
    summary: "a video call: frames that leave as RTP packets at the rate of a published control, \
              and are shown as soon as they can be decoded; a completion is a frame that was \
              shown; with `cca = \"none\"`",
    source: "SCReAM (RFC 8298), NADA (RFC 8698), feedback of RFC 8888, the source of RFC 8593 \
             section 5",
    role: Role::Workload,
    parameters: &[
        Parameter::word(
            "control",
            &["nada", "scream", "scream_program", "none"],
            "nada",
            "the control of the rate: `scream` as RFC 8298 says, `scream_program` with the rate rule \
             of its authors' program; `none` always sends `max`",
        ),
        Parameter::rate("min", ParameterDefault::Whole(150_000), "lowest rate of the encoder"),
        Parameter::rate("max", ParameterDefault::Whole(1_500_000), "highest rate of the encoder"),
        Parameter::whole("fps", ParameterDefault::Whole(30), "frames in a second")
            .positive()
            .at_most(240),
        Parameter::bytes(
            "packet",
            ParameterDefault::Whole(1_000),
            "largest payload of UDP in a packet",
        )
        .at_least(LEAST_MEDIA_PACKET)
        .at_most(LONGEST_DATAGRAM),
        Parameter::duration(
            "reaction",
            ParameterDefault::ms(200),
            "how long the encoder keeps a rate before it takes another (tau_v)",
        ),
        Parameter::whole(
            "variation",
            ParameterDefault::Whole(15),
            "percent of the mean by which sizes of frames vary on the mean (SCALE_B, Laplacian)",
        )
        .at_most(100),
        Parameter::whole(
            "key_frame",
            ParameterDefault::Whole(3),
            "size of a key frame as a multiple of the mean; the seven after it are smaller",
        )
        .positive()
        .at_most(8),
        Parameter::duration(
            "jitter_buffer",
            ParameterDefault::Whole(0),
            "how long after the fastest frame's delay each frame is shown at the earliest",
        ),
        Parameter::duration(
            "feedback",
            ParameterDefault::Off,
            "from one feedback packet to the next; by default 100 ms with NADA, else 20 ms",
        )
        .positive(),
    ],
};

/// The least payload of a packet of media: its headers and some of a frame.
pub const LEAST_MEDIA_PACKET: u64 = 100;

const CHUNK: Parameter =
    Parameter::duration("chunk", ParameterDefault::Required, "the length of a chunk").positive();

const START: Parameter = Parameter::duration(
    "start",
    ParameterDefault::Off,
    "the level needed before it plays, initially and after it ran dry; by default a chunk",
)
.positive();

const BUFFER: Parameter = Parameter::duration(
    "buffer",
    ParameterDefault::secs(30),
    "the capacity of the player's buffer",
)
.positive();

const SIZE: Parameter =
    Parameter::new("size", Unit::Sizes, ParameterDefault::Required, "payload of each transfer");

const fn distribution(
    name: &'static str,
    title: &'static str,
    summary: &'static str,
    parameters: &'static [Parameter],
) -> Info {
    Info {
        name,
        title,
        family: "distribution",
        summary,
        source: "drawn from a table of its inverse",
        role: Role::Distribution,
        parameters,
    }
}

const fn value(name: &'static str, default: ParameterDefault, what: &'static str) -> Parameter {
    Parameter::new(name, Unit::Distributed, default, what)
}

static EXPONENTIAL: Info = distribution(
    "exponential",
    "Exponential",
    "the gaps of a Poisson process",
    &[value("mean", ParameterDefault::Required, "the mean")],
);

static UNIFORM: Info = distribution(
    "uniform",
    "Uniform",
    "all values between two are equally likely",
    &[
        value("min", ParameterDefault::Required, "the minimum"),
        value("max", ParameterDefault::Required, "the maximum"),
    ],
);

static LOGNORMAL: Info = distribution(
    "lognormal",
    "Log-normal",
    "the logarithm is normally distributed; it takes either the median or the mean",
    &[
        value("median", ParameterDefault::Off, "the median"),
        value("mean", ParameterDefault::Off, "the mean"),
        Parameter::new(
            "sigma",
            Unit::Number,
            ParameterDefault::Required,
            "the standard deviation of the logarithm, above 0",
        )
        .between(0.0, 10.0),
    ],
);

/// With a smaller shape, floats can't distinguish the quantiles.
const LEAST_SHAPE: f64 = 0.001;

static PARETO: Info = distribution(
    "pareto",
    "Pareto",
    "a heavy tail; with `max` the bounded distribution",
    &[
        value("min", ParameterDefault::Required, "the minimum"),
        Parameter::new(
            "shape",
            Unit::Number,
            ParameterDefault::Required,
            "the exponent of the tail, above 0.001",
        )
        .between(LEAST_SHAPE, 100.0),
        value("max", ParameterDefault::Off, "the maximum"),
    ],
);

static EMPIRICAL: Info = distribution(
    "empirical",
    "Empirical",
    "values with the shares that don't exceed them, linear in between; it takes either a \
     file or the pairs themselves",
    &[
        Parameter::new(
            "file",
            Unit::QuantileFile,
            ParameterDefault::Off,
            "a file with a value and its share on each line",
        ),
        Parameter::new(
            "points",
            Unit::Quantiles,
            ParameterDefault::Off,
            "the pairs: `[[\"1kb\", 0.5], [\"1mb\", 1]]`",
        ),
    ],
);
