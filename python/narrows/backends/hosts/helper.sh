# The part of narrows on a host: does what lines on its standard input say, and undoes it.
#
# A line is a verb and its words, without quotes; the answer is lines that begin with "| ", then
# "ok" or "no REASON". Before each change, how to undo it is added to a journal. Changes are undone
# at the end of the input, and by a watchdog when no line has come for a while.

set -uf
umask 077
export LC_ALL=C
PATH=$PATH:/usr/sbin:/sbin
user=$(id -u)
home=/tmp/narrows-hosts-$user
devices='' shared='' limit=0 lease=0 watchdog=''

as_root() {
    if [ "$user" = 0 ]; then timeout 20 "$@"; else timeout 20 sudo -n "$@"; fi
}

uptime_s() {
    read -r now _ < /proc/uptime
    now=${now%.*}
}

# $1 is among the other words.
among() {
    wanted=$1
    shift
    for each; do [ "$each" = "$wanted" ] && return 0; done
    return 1
}

refuse() {
    echo "no $*"
    return 1
}

# Runs a command, and answers with its last words if it fails.
try() {
    if said=$("$@" 2>&1 < /dev/null); then
        return 0
    fi
    refuse "$(printf '%s' "$said" | tail -n 3 | tr '\n' ' ') ($*)"
}

journal() {
    if ! echo "$*" >> "$home/journal"; then
        refuse "the journal $home/journal can't be written: is the disk full?"
    fi 2> /dev/null
}

devices_of_default_route() {
    { ip -4 -o route show default; ip -6 -o route show default; } 2> /dev/null |
        sed -n 's/.* dev \([^ ]*\).*/\1/p'
}

devices_of_ssh() {
    set -- ${SSH_CONNECTION:-}
    [ $# -ge 3 ] || return 0
    ip -o addr show to "$3" 2> /dev/null | sed -n 's/^[0-9]*: \([^ @]*\).*/\1/p'
    ip -o route get "$1" 2> /dev/null | sed -n 's/.* dev \([^ ]*\).*/\1/p'
}

# Answers with an error unless $1 is a device that may be changed.
may_change() {
    among "$1" $devices || refuse "$1 isn't a test interface of this session" || return 1
    among "$1" $shared && return 0
    if among "$1" $(devices_of_default_route); then
        refuse "$1 has the default route; another interface, or shared = true in the inventory"
    elif among "$1" $(devices_of_ssh); then
        refuse "$1 carries this ssh; another interface, or shared = true in the inventory"
    elif [ -z "${SSH_CONNECTION:-}" ] && [ "$1" != lo ]; then
        refuse "SSH_CONNECTION isn't set, so which interface carries ssh is unknown"
    fi
}

# What must be the same afterwards.
snapshot() {
    ip -o link show | sed 's/^[0-9]*: \([^:@]*\).* mtu \([0-9]*\) .*/link \1 \2/' | sort
    ip rule show
    for each in $devices; do
        ip -4 -o addr show dev "$each" | sed 's/ *valid_lft.*//; s/^[0-9]*: //'
        ip -4 route show table all dev "$each" | sort
        tc qdisc show dev "$each" | sed 's/ refcnt [0-9]*//' | sort
        ethtool -k "$each" 2> /dev/null
    done
}

undo() {
    verb=$1
    shift
    case $verb in
    sysctl)
        key=$1
        shift
        as_root sysctl -qw "$key=$*"
        [ ! -e "/proc/sys/$key" ] || [ "$(setting "$key")" = "$*" ] || echo "$key isn't $*;"
        ;;
    offload) as_root ethtool -K "$1" "$2" "$3" ;;
    qdisc) as_root tc qdisc del dev "$1" root ;;
    ingress) as_root tc qdisc del dev "$1" ingress ;;
    link) as_root ip link del "$1" ;;
    rule) as_root ip rule del pref "$1" ;;
    table) as_root ip route flush table "$1" ;;
    module) as_root modprobe -r "$1" ;;
    job) end_job "$1" ;;
    esac 2> /dev/null
}

# Ends a job and its children, unless its number belongs to another process by now.
end_job() {
    [ "$(readlink "/proc/$1/cwd" 2> /dev/null)" = "$home" ] || return 0
    kill -TERM "-$1" 2> /dev/null
    for _ in 1 2 3 4 5; do
        kill -0 "-$1" 2> /dev/null || return 0
        sleep 0.1
    done
    kill -KILL "-$1" 2> /dev/null
}

# Undoes all changes, the last first, and removes all files, unless something differs afterwards;
# then it prints what. With $1 the files are removed in any case.
#
# A lock keeps others from changing anything meanwhile. A process that holds it for longer than a
# command may take hangs, and is killed, so that it can't go on later.
restore() {
    [ -d "$home" ] || return 0
    exec 8> "$home/lock" || return 0
    if ! flock -w 25 8; then
        kill -KILL "$(cat "$home/helper")" 2> /dev/null
        flock -w 25 8
    fi
    if [ -d "$home" ]; then
        rm -f "$home/changeable"
        undo_all
        [ -n "$differs" ] && [ -z "${1:-}" ] || rm -rf "$home"
        printf '%s' "$differs"
    fi
    exec 8>&-
}

undo_all() {
    lines='' differs=''
    while read -r line; do
        lines="$line
$lines"
    done < "$home/journal"
    while read -r line; do
        [ -z "$line" ] || differs="$differs$(undo $line)"
    done << END
$lines
END
    before=$(cat "$home/before")
    after=$(snapshot)
    if [ "$before" != "$after" ]; then
        differs="$differs $(printf '%s\n' "$after" | diff "$home/before" - | grep '^[<>]' | head -n 9 | tr '\n' ';')"
    fi
}

# Makes a change, unless the changes have been undone.
change() {
    flock 9
    if [ "$(cat "$home/changeable" 2> /dev/null)" = $$ ]; then
        "$@"
    else
        refuse "no session: the watchdog has restored this host"
    fi
    changed=$?
    flock -u 9
    return $changed
}

watch_over() {
    exec 9>&-
    trap 'heard=1' USR1
    trap '' HUP INT PIPE
    trap 'restore; exit' TERM
    heard=0
    uptime_s
    deadline=$((now + lease))
    while [ -d "$home" ]; do
        sleep 1
        uptime_s
        if [ $heard = 1 ]; then
            heard=0
            deadline=$((now + lease))
        fi
        if [ "$now" -ge $deadline ] || [ "$now" -ge "$limit" ]; then
            restore
            return
        fi
    done
}

# begin LEASE LIMIT DEVICE...: a device that is shared with others is preceded by "+".
begin() {
    lease=$1
    uptime_s
    limit=$((now + $2))
    shift 2
    for each; do
        devices="$devices ${each#+}"
        case $each in +*) shared="$shared ${each#+}" ;; esac
        ip link show dev "${each#+}" > /dev/null 2>&1 ||
            refuse "there is no interface ${each#+}" || return 1
    done
    boot=$(cat /proc/sys/kernel/random/boot_id)
    if [ -d "$home" ] && [ -O "$home" ] && [ ! -L "$home" ] &&
        [ "$(cat "$home/boot" 2> /dev/null)" != "$boot" ] && [ -s "$home/boot" ]; then
        rm -rf "$home" # its changes ended with that boot
    fi
    if ! mkdir -m 700 "$home" 2> /dev/null; then
        if [ -e "$home" ]; then
            refuse "$home exists: narrows is at work here, or ended without restoring" \
                "(narrows hosts restore)"
        else
            refuse "$home can't be made: is the disk full?"
        fi
        return 1
    fi
    if ! { : > "$home/journal" && echo "$boot" > "$home/boot" && mkdir "$home/out" &&
        echo "$devices" > "$home/devices" && echo $$ > "$home/helper" &&
        echo $$ > "$home/changeable" && exec 9> "$home/lock" && snapshot > "$home/before" &&
        [ -s "$home/before" ] && [ -s "$home/changeable" ]; } 2> /dev/null; then
        rm -rf "$home"
        refuse "$home can't be written: is the disk full?"
        return 1
    fi
    watch_over > /dev/null 2>&1 < /dev/null &
    watchdog=$!
    echo "| $home"
}

# The value of a setting below /proc/sys, with single spaces.
setting() {
    tr '\t' ' ' < "/proc/sys/$1" 2> /dev/null
}

# sysctl KEY VALUE...: KEY is a path below /proc/sys.
set_sysctl() {
    key=$1
    shift
    case $key in
    *..*) refuse "$key isn't a setting that narrows changes" || return 1 ;;
    net/ipv4/tcp_* | net/ipv4/conf/*/rp_filter | net/ipv4/conf/*/forwarding) ;;
    *) refuse "$key isn't a setting that narrows changes" || return 1 ;;
    esac
    if ! old=$(setting "$key") || [ -z "$old" ]; then
        refuse "this kernel has no setting $key"
        return 1
    fi
    [ "$old" = "$*" ] && return 0
    journal sysctl "$key" $old || return 1
    try as_root sysctl -qw "$key=$*" || return 1
    [ "$(setting "$key")" = "$*" ] || refuse "$key stays $old instead of $*"
}

# offload DEVICE FEATURE on|off
set_offload() {
    may_change "$1" || return 1
    old=$(ethtool -k "$1" 2> /dev/null | sed -n "s/^$2: //p")
    case $old in
    "$3" | "$3 "* | '' | *fixed*) return 0 ;;
    esac
    journal offload "$1" "$2" "${old%% *}" || return 1
    try as_root ethtool -K "$1" "$2" "$3"
}

# qdisc DEVICE: its root will be replaced.
take_qdisc() {
    may_change "$1" || return 1
    old=$(tc qdisc show dev "$1" | sed -n 's/^qdisc \([^ ]* [^ ]*\) root.*/\1/p')
    case $old in
    *' 0:' | '') journal qdisc "$1" ;;
    *) refuse "$1 has the queue discipline \"$old\" of somebody else; none, so that it can be restored" ;;
    esac
}

# ingress DEVICE
add_ingress() {
    may_change "$1" || return 1
    if tc qdisc show dev "$1" | grep -q 'ingress\|clsact'; then
        refuse "$1 has an ingress discipline of somebody else"
        return 1
    fi
    journal ingress "$1" && try as_root tc qdisc add dev "$1" ingress
}

# tc OBJECT add dev DEVICE WORD...
call_tc() {
    case "$1 $2 $3" in
    'qdisc add dev' | 'class add dev' | 'filter add dev') ;;
    *) refuse "tc $1 $2 isn't a command that narrows uses" || return 1 ;;
    esac
    grep -qxF -e "qdisc $4" -e "ingress $4" -e "link $4" "$home/journal" ||
        refuse "$4 wasn't taken before" || return 1
    try as_root tc "$@"
}

# tun DEVICE | ifb DEVICE: made for this session and set up.
add_link() {
    case $2 in nrw[a-z]) ;; *) refuse "$2 isn't a name of ours" || return 1 ;; esac
    if ip link show dev "$2" > /dev/null 2>&1; then
        refuse "$2 exists already"
        return 1
    fi
    journal link "$2" || return 1
    case $1 in
    tun) try as_root ip tuntap add dev "$2" mode tun user "$user" || return 1 ;;
    ifb) try as_root ip link add "$2" type ifb || return 1 ;;
    esac
    if [ -e "/proc/sys/net/ipv6/conf/$2" ]; then # or its router solicitations cross the path
        try as_root sysctl -qw "net/ipv6/conf/$2/disable_ipv6=1" || return 1
    fi
    try as_root ip link set "$2" up txqueuelen 20000
}

# rule PREFERENCE DEVICE TABLE: packets that come in by a device have a table of their own.
add_rule() {
    if ip rule show pref "$1" | grep -q .; then
        refuse "there is a rule with preference $1 already"
        return 1
    fi
    journal rule "$1" && try as_root ip rule add pref "$1" iif "$2" lookup "$3"
}

# route TABLE DEVICE: the table's only route.
add_route() {
    if ip route show table "$1" 2> /dev/null | grep -q .; then
        refuse "table $1 is in use"
        return 1
    fi
    journal table "$1" && try as_root ip route add default dev "$2" table "$1"
}

# module NAME
load_module() {
    [ -d "/sys/module/$1" ] && return 0
    journal module "$1" && try as_root modprobe "$1"
}

# job NAME PROGRAM WORD...: a program of ours in the background.
start_job() {
    name=$1 program=$2
    shift 2
    [ -x "$home/$program" ] || refuse "there is no $program" || return 1
    (
        cd "$home" && exec setsid sh -c \
            'name=$1; shift; "$@" > "$name.log" 2>&1; echo $? > "$name.end"' sh \
            "$name" "./$program" "$@" < /dev/null > /dev/null 2>&1 9>&-
    ) &
    journal job $!
}

# ended NAME: whether a job ended, and how.
ended() {
    if [ -s "$home/$1.end" ]; then
        read -r status < "$home/$1.end"
        echo "| $status"
        [ "$status" = 0 ] || tail -n 3 "$home/$1.log" | sed 's/^/| /'
    fi
}

# done: when the program's own flows were done, in ns of the run, if they are.
flows_done() {
    [ ! -s "$home/out/done_ns" ] || sed 's/^/| /' "$home/out/done_ns"
}

# stop: ends the program before its time.
stop_job() {
    : > "$home/stop" || refuse "no session: the watchdog has restored this host"
}

facts() {
    echo "| system $(uname -s)"
    echo "| kernel $(uname -r)"
    echo "| machine $(uname -m)"
    echo "| user $user"
    echo "| processors $(grep -c '^processor' /proc/cpuinfo)"
    echo "| load $(cut -d ' ' -f 1-3 /proc/loadavg)"
    echo "| controls $(sysctl -n net.ipv4.tcp_available_congestion_control 2> /dev/null)"
    echo "| allowed $(sysctl -n net.ipv4.tcp_allowed_congestion_control 2> /dev/null)"
    find "/lib/modules/$(uname -r)" -name 'tcp_*.ko*' ! -name 'tcp_diag.*' 2> /dev/null |
        sed 's|.*/tcp_\([^.]*\).*|\| module \1|'
    for each in tc ip ethtool sysctl timeout setsid flock diff iperf3 netperf; do
        command -v "$each" > /dev/null 2>&1 && echo "| tool $each"
    done
    command -v iperf3 > /dev/null 2>&1 && echo "| iperf3 $(iperf3 --version 2> /dev/null | head -n 1)"
    if [ "$user" != 0 ]; then
        for each in tc ip ethtool sysctl modprobe; do
            path=$(command -v "$each") || continue
            sudo -n -l "$path" > /dev/null 2>&1 && echo "| sudo $each"
        done
    fi
    [ -w /dev/net/tun ] && echo "| tun yes"
    echo "| busy $([ -e "$home" ] && echo yes || echo no)"
    echo "| default-route $(devices_of_default_route | tr '\n' ' ')"
    echo "| ssh $(devices_of_ssh | tr '\n' ' ')"
    for each; do
        [ -d "/sys/class/net/$each" ] || continue
        echo "| address $each $(ip -4 -o addr show dev "$each" | sed -n 's/.* inet \([0-9.]*\).*/\1/p' | head -n 1)"
        echo "| speed $each $(cat "/sys/class/net/$each/speed" 2> /dev/null)"
        echo "| qdisc $each $(tc qdisc show dev "$each" 2> /dev/null | sed -n 's/^qdisc \([^ ]* [^ ]*\) root.*/\1/p')"
        echo "| offloads $each $(ethtool -k "$each" 2> /dev/null | sed -n 's/^\(tcp-segmentation\|generic-segmentation\|generic-receive\|large-receive\)-offload: on.*/\1/p' | tr '\n' ' ')"
        counters "$each"
    done
}

# Packets that a device dropped or got damaged, in both directions.
counters() {
    sum=0
    for each_counter in rx_dropped tx_dropped rx_errors tx_errors rx_missed_errors; do
        read -r count < "/sys/class/net/$1/statistics/$each_counter" || count=0
        sum=$((sum + count))
    done
    echo "| drops $1 $sum"
}

# can KIND...: the kinds of queue disciplines that a device of ours takes, which loads modules.
can() {
    for kind in tun ifb; do
        answer_lost=$(add_link "$kind" nrwz 2>&1) && break
    done
    if [ -n "$answer_lost" ]; then
        echo "$answer_lost"
        return 1
    fi
    for kind; do
        case $kind in
        netem) more='delay 1ms' ;;
        tbf) more='rate 1mbit burst 2kb limit 2kb' ;;
        red) more='limit 60000 min 5000 max 15000 avpkt 1000 burst 10 bandwidth 1mbit' ;;
        *) more='' ;;
        esac
        as_root tc qdisc replace dev nrwz root $kind $more > /dev/null 2>&1 && echo "| $kind"
    done
    undo link nrwz
}

answer() {
    verb=$1
    shift
    case $verb in
    hello) echo "| narrows-hosts 1" ;;
    facts) facts "$@" ;;
    beat) ;;
    begin) begin "$@" ;;
    sysctl) change set_sysctl "$@" ;;
    offload) change set_offload "$@" ;;
    qdisc) change take_qdisc "$@" ;;
    ingress) change add_ingress "$@" ;;
    tc) change call_tc "$@" ;;
    tun | ifb) change add_link "$verb" "$@" ;;
    rule) change add_rule "$@" ;;
    route) change add_route "$@" ;;
    module) change load_module "$@" ;;
    job) change start_job "$@" ;;
    can) change can "$@" ;;
    ended) ended "$@" ;;
    done) flows_done ;;
    stop) stop_job ;;
    counters) counters "$@" ;;
    end)
        [ -n "$watchdog" ] || refuse "no session" || return 1
        said=$(restore)
        [ -z "$said" ] || kill "$watchdog" # it would try again and again
        wait "$watchdog"
        watchdog=''
        [ -z "$said" ] || refuse "not as before: $said"
        ;;
    restore)
        if [ ! -d "$home" ]; then
            echo "| nothing"
            return 0
        fi
        [ -O "$home" ] && [ ! -L "$home" ] || refuse "$home isn't ours" || return 1
        if [ "$(cat "$home/boot")" != "$(cat /proc/sys/kernel/random/boot_id)" ]; then
            rm -rf "$home"
            echo "| nothing since this host started"
            return 0
        fi
        devices=$(cat "$home/devices")
        said=$(restore finally)
        [ -z "$said" ] || refuse "not as before: $said"
        ;;
    *) refuse "unknown verb $verb" ;;
    esac
}

trap '' HUP INT PIPE USR1
trap 'flock -u 9; restore > /dev/null; exit' TERM
exec 9> /dev/null
while read -r line; do
    case $line in
    '' | *[!A-Za-z0-9_./:=,+@%\ -]*) echo "no a line with other characters" ;;
    *)
        [ -z "$watchdog" ] || kill -USR1 "$watchdog" 2> /dev/null
        answer $line < /dev/null && echo ok
        ;;
    esac
done
[ -z "$watchdog" ] || restore > /dev/null
