# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2034,SC2086 # users of variables are elsewhere; lists are words
# lib.sh - what ./run, ./test and tools/fresh-check share: messages, packages,
# builds.  POSIX sh; sourced with the root of the project as current directory.

# --- Tables -------------------------------------------------------------

# What each command needs installed.  A name that ends in '?' is installed where
# the distribution has it; whoever uses it says so when it is not there.
run_packages='gcc libc6-dev meson ninja-build pkg-config libevent-dev libssl-dev libyaml-dev libsqlite3-dev
    libcurl4-openssl-dev curl'
test_packages="$run_packages clang libclang-rt-dev llvm clang-format-14? libcmocka-dev
    libjansson-dev python3 python3-pytest python3-pytest-xdist openssl iproute2 procps"
bench_packages="$run_packages libjansson-dev python3"

# One row a build directory: name | compiler | seconds that all of it may take on two
# cores, without ccache | Meson options | ninja targets ('': all).
builds() {
    cat <<'END'
release | gcc   |  90 | |
gcc     | gcc   | 160 | -Dtests=true -Dfault=true -Db_sanitize=address,undefined -Dc_args=-g1 |
clang   | clang | 180 | -Dtests=true -Dfault=true -Dfuzz=true -Db_sanitize=address,undefined -Dc_args=-g1 -Doptimization=1 |
tsan    | gcc   |  60 | -Dtests=true -Dfault=true -Db_sanitize=thread -Dc_args=-g1 | threaded-tests
bench   | gcc   |  90 | -Dbench=true |
END
}

# Warnings are errors in CI, which sets CI=true, and only shown elsewhere: another
# compiler has other warnings.
werror() {
    if [ "${CI:-}" = true ]; then
        say -Dwerror=true
    else
        say -Dwerror=false
    fi
}

# --- Messages -----------------------------------------------------------

if [ -t 1 ] && [ -z "${NO_COLOR:-}" ]; then
    bold=$(printf '\033[1m') red=$(printf '\033[31m') green=$(printf '\033[32m')
    yellow=$(printf '\033[33m') plain=$(printf '\033[0m')
else
    bold='' red='' green='' yellow='' plain=''
fi

say() {
    printf '%s\n' "$*"
}

die() {
    die_with 1 "$@"
}

# die_with STATUS TEXT
die_with() {
    die_status=$1
    shift
    printf '%s: %s\n' "${0##*/}" "$*" >&2
    exit "$die_status"
}

now_ms() {
    date +%s%3N
}

# seconds_since MS: with one decimal.
seconds_since() {
    awk -v ms="$(($(now_ms) - $1))" 'BEGIN { printf "%.1f", ms / 1000 }'
}

# Prints the cells of a row of a table, one a line, without the blanks around them.
cells() {
    printf '%s\n' "$1" | sed 's/^ *//; s/ *$//; s/ *| */\n/g'
}

# cell ROW N
cell() {
    cells "$1" | sed -n "${2}p"
}

# --- On a terminal ------------------------------------------------------

# Where a moving line goes.  Output that is on its way to a log is none for it, so
# ./test moves it to where the terminal is.
terminal=1 ticker_pid=''

on_terminal() {
    [ -t "$terminal" ]
}

clear_line() {
    printf '\r\033[K' >&"$terminal"
}

# ticker LABEL COMMAND...: the label and what the command prints, which is given the
# seconds so far, once a second until it is killed or the script is gone.
ticker() {
    ticker_label=$1 ticks=0
    shift
    while kill -0 $$ 2>/dev/null; do
        printf '\r\033[K%s... %s' "$ticker_label" "$("$@" "$ticks")" >&"$terminal"
        sleep 1
        ticks=$((ticks + 1))
    done
}

start_ticker() {
    ticker "$@" &
    ticker_pid=$!
}

# That it was killed, as `wait` says of it, is no failure.
end_ticker() {
    [ -n "$ticker_pid" ] || return 0
    kill "$ticker_pid" 2>/dev/null || :
    wait "$ticker_pid" 2>/dev/null || :
    ticker_pid=''
    clear_line
}

# For a ticker: so_far LOG TICKS, time_left SECONDS TICKS.
so_far() {
    printf '%s s  %s' "$2" "$(tail -n 1 "$1" | tr -cd '[:print:]' | cut -c 1-50)"
}

time_left() {
    printf '%s s left' "$(($1 > $2 ? $1 - $2 : 0))"
}

# Ctrl-C and SIGTERM end the script with a word, and not with half a line.
interrupted() {
    trap - INT TERM
    end_ticker
    ! on_terminal || clear_line
    die_with "$1" interrupted
}

trap_signals() {
    trap 'interrupted 130' INT
    trap 'interrupted 143' TERM
}

# --- Commands with a log ------------------------------------------------

# need_writable PATH...: ends the script where one of these is not ours to write, or
# its folder is not if it is not there yet.
need_writable() {
    for path; do
        there=$path
        while [ ! -e "$there" ]; do
            there=$(dirname "$there")
        done
        [ -w "$there" ] ||
            die "cannot write to $(realpath "$there"): run as its owner, $(stat -c %U "$there")"
    done
}

# The end of a log; of ninja's, what begins with the first failure.
show_failure() {
    if grep -q '^FAILED:' "$1"; then
        sed -n '/^FAILED:/,$p' "$1" | grep -v '^\[[0-9]*/[0-9]*\] ' | head -n 100
    else
        tail -n 50 "$1"
    fi
}

# show_warnings LOG: the compiler's, at most 20 lines of them.
show_warnings() {
    warnings=$(grep -c ' warning: ' "$1") || return 0
    grep ' warning: ' "$1" | head -n 20
    say "$warnings warnings (errors in CI): $1"
}

# quietly LABEL LOG COMMAND...: runs it with its output in LOG, which is shown
# only if it fails.  It has a shell of its own: a trap of ours would otherwise run
# inside the redirection, and speak to the log.
quietly() {
    quiet_label=$1 quiet_log=$2 quiet_start=$(now_ms) quiet_status=0
    shift 2
    need_writable "$quiet_log"
    mkdir -p "${quiet_log%/*}"
    : >"$quiet_log"
    if on_terminal; then
        start_ticker "$quiet_label" so_far "$quiet_log"
    else
        say "$quiet_label..."
    fi
    ("$@") >>"$quiet_log" 2>&1 </dev/null || quiet_status=$?
    end_ticker
    if [ "$quiet_status" -eq 0 ]; then
        say "$quiet_label: done in $(seconds_since "$quiet_start") s"
        return 0
    fi
    show_failure "$quiet_log"
    say "${red}$quiet_label: failed${plain} after $(seconds_since "$quiet_start") s (all of it: $quiet_log)"
    return "$quiet_status"
}

# --- Packages -----------------------------------------------------------

# Those of the named packages that are not installed, on one line.
missing_of() {
    # shellcheck disable=SC2016
    have=" $(dpkg-query -W -f '${Package} ${db:Status-Status}\n' "$@" 2>/dev/null |
        sed -n 's/ installed$//p' | tr '\n' ' ')"
    for package; do
        case $have in
        *" $package "*) ;;
        *) printf '%s ' "$package" ;;
        esac
    done
}

# Those of the named packages that apt has on offer, on one line.
offered_of() {
    for package; do
        case $(LC_ALL=C apt-cache policy "$package" 2>/dev/null) in
        '' | *'Candidate: (none)'*) ;;
        *) printf '%s ' "$package" ;;
        esac
    done
}

# Root, or sudo without a question that nobody is there to answer.
can_install() {
    [ "$(id -u)" -eq 0 ] && return
    command -v sudo >/dev/null || return
    if [ -t 0 ]; then
        sudo -v
    else
        sudo -n true 2>/dev/null
    fi
}

apt_get() {
    if [ "$(id -u)" -eq 0 ]; then
        DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0 -q "$@"
    else
        sudo env DEBIAN_FRONTEND=noninteractive \
            apt-get -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0 -q "$@"
    fi
}

# need_packages NAME...: installs what is missing.
need_packages() {
    must='' may=''
    for package; do
        case $package in
        *'?') may="$may ${package%'?'}" ;;
        *) must="$must $package" ;;
        esac
    done
    if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
        say "no apt here: this needs what Debian calls$must"
        return
    fi
    must=$(missing_of $must) may=$(missing_of $may)
    if [ -n "$must" ]; then
        can_install || die "packages are missing, and only root may install them. Run as root:
  apt-get update && apt-get install -y --no-install-recommends ${must% }
then this again (or have a sudo that asks for no password)."
        quietly 'updating the package lists' build/log/apt-update.log apt_get update ||
            die 'apt-get update failed'
    fi
    must="$must$(offered_of $may)"
    if [ -z "$must" ] || ! can_install; then
        return
    fi
    quietly "installing ${must% }" build/log/apt-install.log \
        apt_get install -y --no-install-recommends $must || die 'apt-get install failed'
}

# promtool is a package of its own in Debian 13.  Before that it is part of prometheus,
# whose daemon would be started: so the tool alone is unpacked into build/tools.  Where that
# can not be, whoever uses it says so.
promtool_package() {
    for package in promtool prometheus; do
        [ -z "$(offered_of $package)" ] || break
    done
    printf '%s' "$package"
}

fetch_promtool() {
    rm -rf build/tools/deb && mkdir -p build/tools/deb || return
    (cd build/tools/deb && apt-get -q -o APT::Sandbox::User=root download "$(promtool_package)") &&
        dpkg-deb --fsys-tarfile build/tools/deb/*.deb | tar -x -C build/tools/deb ./usr/bin/promtool &&
        mv build/tools/deb/usr/bin/promtool build/tools/promtool
    fetch_status=$?
    rm -rf build/tools/deb
    return $fetch_status
}

need_promtool() {
    if command -v promtool >/dev/null || [ -x build/tools/promtool ] || [ -z "$(offered_of prometheus)" ]; then
        return 0
    fi
    quietly 'unpacking promtool' build/log/promtool.log fetch_promtool || :
}

# --- Builds -------------------------------------------------------------

configure() {
    if [ ! -f "$build_dir/build.ninja" ]; then
        CC=$build_cc meson setup "$@"
    elif [ "$(sed -n 1p "$build_dir/holdfast-options" 2>/dev/null)" != "$build_tools" ]; then
        CC=$build_cc meson setup --wipe "$@"
    else
        meson setup --reconfigure "$@"
    fi
}

configure_and_compile() {
    if [ "$(cat "$build_dir/holdfast-options" 2>/dev/null)" != "$build_tools
$build_options" ]; then
        configure "$build_dir" $build_options || return
        printf '%s\n%s\n' "$build_tools" "$build_options" >"$build_dir/holdfast-options"
    fi
    ninja -C "$build_dir" $build_targets
}

# Two of us may build at once; flock lets the second wait.
locked_build() {
    (
        flock 9
        configure_and_compile
    ) 9>"$build_dir.lock"
}

# build NAME: brings build/NAME up to date.  Other options lead to a
# reconfiguration, another compiler, Meson or place to a new directory.
build() {
    build_row=$(builds | grep "^$1 ")
    build_dir=build/$1 build_cc=$(cell "$build_row" 2) build_options="$(cell "$build_row" 4) $(werror)"
    build_targets=$(cell "$build_row" 5)
    build_tools="$(pwd -P), meson $(meson --version), $($build_cc --version | head -n 1)"
    need_writable build "$build_dir" "$build_dir.lock"
    mkdir -p "$build_dir"
    quietly "building $build_dir ($build_cc)" "build/log/$1.log" locked_build || return
    show_warnings "build/log/$1.log"
}
