//! The simulator for WebAssembly: a request in, an answer out, both JSON.
//!
//! The playground runs this module in a worker, which gets a run's progress by `page.progress`, and `make playground` tests it in Node. A caller
//! writes the request at the address that `text(length)` returns, calls `call()`, and reads as
//! many bytes as `call` returned at the address that `answer()` returns.
//!
//! | Request | Answer |
//! |---|---|
//! | `{"do": "schema"}` | the JSON Schema of specifications |
//! | `{"do": "control"}` | the events and fields of a control written in JavaScript |
//! | `{"do": "read", "text": TOML}` | `document`: the specification as JSON |
//! | `{"do": "edit", "text": TOML, "edits": [{"place", "value"}]}` | `text`: the edited TOML |
//! | `{"do": "run", "text": TOML, "own": NAME?, "tables": [NAME], "packets": SPAN?, "capture": POINT?}` | `digest`, `end_s`, `packets`, `groups`, `numbers`, `scenario`, `document`, `tables` |
//!
//! `groups` names the class of each flow; `numbers` are those of `narrows_metrics::run_numbers`.
//!
//! With `capture` (`"sender"`, `"before-queue"`, `"after-queue"`, `"receiver"`) the answer has the
//! length of a pcapng file, and `file()` returns its address.
//!
//! A span has `from_s`, `to_s` and perhaps a `flow`; the table of packets then has its events.
//!
//! Problems of a text are returned as `{"problems": [{"at", "place", "text"}]}`.

mod capture;
mod edit;
mod exports;
mod javascript_control;
mod packet_range;
mod page;
mod request;
mod run;
mod tables;

pub use request::answer;
