"""Longer scripts of the kind that lies in images and runbooks."""

FILES = {
    "pods.txt": "NAME READY STATUS RESTARTS\nweb-1 1/1 Running 0\nweb-2 0/1 CrashLoopBackOff 12\ndb-0 1/1 Running 1\ncache-0 0/1 Pending 0\n",
    "hosts.csv": "name,ip,role\nalpha,10.0.0.1,web\nbeta,10.0.0.2,db\ngamma,10.0.0.3,web\n",
    "app.conf": "# settings\nport = 8080\nhost=localhost\n\n[db]\nname = orders\n",
    "app.log": "".join(
        f"2024-05-01T10:00:{second:02d}Z {level} {message}\n"
        for second, (level, message) in enumerate(
            [
                ("INFO", "started"),
                ("WARN", "slow query 350ms"),
                ("ERROR", "timeout calling payment"),
                ("INFO", "request id=7 took 12ms"),
                ("ERROR", "timeout calling stock"),
                ("INFO", "request id=8 took 340ms"),
            ]
        )
    ),
}

CASES = [
    """
log() { printf '%s [%s] %s\\n' "$(basename "${BASH_SOURCE[0]:-main}")" "$1" "${*:2}"; }
die() { log ERROR "$@" >&2; exit 1; }
retry() {
  local n=0 max=$1; shift
  until "$@"; do
    ((++n >= max)) && return 1
    echo "attempt $n failed"
  done
}
count=0
flaky() { ((++count >= 3)); }
retry 5 flaky && echo "ok after $count"
retry 2 false || echo gave up
die all done
echo never
""",
    """
#!/bin/bash
set -euo pipefail
declare -A status
while read -r name ready state restarts; do
  [[ $name == NAME ]] && continue
  status[$name]=$state
  if [[ $state != Running ]]; then
    printf '%-12s %-18s %3d\\n' "$name" "$state" "$restarts"
  fi
done < pods.txt
for name in $(printf '%s\\n' "${!status[@]}" | sort); do
  case ${status[$name]} in
    Running) mark=+ ;;
    Pending) mark='?' ;;
    *) mark=- ;;
  esac
  echo "$mark $name"
done
echo "${#status[@]} pods"
""",
    """
parse_args() {
  verbose=0 name=default
  while [[ $# -gt 0 ]]; do
    case $1 in
      -v|--verbose) ((verbose++)) || true ;;
      -n|--name) name=$2; shift ;;
      --name=*) name=${1#*=} ;;
      --) shift; break ;;
      -*) echo "unknown option $1" >&2; return 2 ;;
      *) break ;;
    esac
    shift
  done
  rest=("$@")
}
parse_args -v --name=web -v -- a 'b c'; echo "$verbose $name ${#rest[@]} ${rest[1]}"
parse_args -n db x; echo "$verbose $name ${rest[*]}"
parse_args --bad; echo "status $?"
""",
    """
section=
while IFS= read -r line || [[ -n $line ]]; do
  line=${line%%#*}
  line=${line#"${line%%[![:space:]]*}"}
  line=${line%"${line##*[![:space:]]}"}
  [[ -z $line ]] && continue
  if [[ $line =~ ^\\[(.+)\\]$ ]]; then
    section=${BASH_REMATCH[1]}
  elif [[ $line =~ ^([^=]+)=(.*)$ ]]; then
    key=${BASH_REMATCH[1]% } value=${BASH_REMATCH[2]# }
    echo "${section:-global}.$key -> '$value'"
  fi
done < app.conf
""",
    """
IFS=, read -ra header < hosts.csv
{
  read -r _
  while IFS=, read -r name ip role; do
    echo "${role^^}: $name (${ip##*.})"
  done
} < hosts.csv | sort
echo "columns: ${#header[@]} (${header[*]})"
""",
    """
errors=0
declare -A by
while read -r stamp level rest; do
  ((by[$level]++)) || true
  if [[ $level == ERROR ]]; then
    ((++errors))
    echo "${stamp:11:8} ${rest##* }"
  fi
  if [[ $rest =~ ([0-9]+)ms ]] && (( BASH_REMATCH[1] > 300 )); then
    echo "slow: ${BASH_REMATCH[1]}"
  fi
done < app.log
for k in ERROR INFO WARN; do echo "$k=${by[$k]}"; done
exit $((errors > 1 ? 3 : 0))
""",
    """
cleanup() { rm -f "$tmp"; echo "cleaned ($?)"; }
tmp=$(mktemp)
trap cleanup EXIT
echo data > "$tmp"
[ -s "$tmp" ] && echo "has data"
false
exit 4
""",
    """
wait_for() {
  local what=$1 tries=${2:-5}
  for ((i = 1; i <= tries; i++)); do
    if [[ -e $what ]]; then echo "found $what on try $i"; return 0; fi
    sleep 0.01
  done
  echo "no $what after $tries tries" >&2
  return 1
}
(sleep 0.1; : > ready) &
wait_for ready 50 | sed 's/try .*/try N/'
wait
wait_for never 2 || echo "status $?"
""",
    """
pids=()
for i in 3 1 2; do
  ( sleep 0.$((i*3)); echo "worker $i"; exit $i ) &
  pids+=($!)
done
rc=0
for pid in "${pids[@]}"; do wait "$pid" || rc=$((rc + $?)); done
echo "sum $rc"
""",
    """
render() {
  cat <<YAML
apiVersion: v1
kind: ConfigMap
metadata:
  name: ${1:?name}
data:
$(for kv in "${@:2}"; do printf '  %s: "%s"\\n' "${kv%%=*}" "${kv#*=}"; done)
YAML
}
render web port=80 'greeting=hello $USER' | tee out.yaml | wc -l
cat out.yaml
( render ) || echo "exit $?"
""",
    """
stack=()
push() { stack+=("$1"); }
pop() { local -n out=$1; out=${stack[-1]}; unset 'stack[-1]'; }
for token in 3 4 + 2 \\* 7 -; do
  case $token in
    [0-9]*) push "$token" ;;
    *) pop b; pop a; push $((a $token b)) ;;
  esac
done
pop result; echo "$result ${#stack[@]}"
""",
    """
to_seconds() {
  local t=$1 total=0
  while [[ $t =~ ^([0-9]+)([hms])(.*)$ ]]; do
    case ${BASH_REMATCH[2]} in
      h) ((total += BASH_REMATCH[1] * 3600)) ;;
      m) ((total += BASH_REMATCH[1] * 60)) ;;
      s) ((total += BASH_REMATCH[1])) ;;
    esac
    t=${BASH_REMATCH[3]}
  done
  echo $total
}
for t in 90s 5m 1h30m 2h5s ''; do echo "[$t] $(to_seconds "$t")"; done
""",
    """
compare() {
  local IFS=.
  local -a a=($1) b=($2)
  local i
  for ((i = 0; i < ${#a[@]} || i < ${#b[@]}; i++)); do
    if ((10#${a[i]:-0} > 10#${b[i]:-0})); then echo '>'; return; fi
    if ((10#${a[i]:-0} < 10#${b[i]:-0})); then echo '<'; return; fi
  done
  echo '='
}
for pair in '1.2.3 1.2.4' '2.0 1.9.9' '1.0 1.0.0' '1.08 1.8'; do
  set -- $pair
  echo "$1 $(compare "$1" "$2") $2"
done
""",
    """
exec 3>&1 4>&2
exec > both.log 2>&1
echo to the log
ls /nonexistent
exec 1>&3 2>&4 3>&- 4>&-
echo to the screen
wc -l < both.log
grep -c nonexistent both.log
""",
    """
f() {
  local depth=$1
  echo "${FUNCNAME[*]} line ${BASH_LINENO[0]}"
  ((depth > 0)) && f $((depth - 1))
  return 0
}
f 2
set -x
f 0
{ set +x; } 2>/dev/null
echo done
""",
    """
mkfifo pipe
( while read -r line; do echo "server got $line"; done < pipe ) &
exec 7> pipe
echo one >&7
echo two >&7
exec 7>&-
wait
rm pipe
""",
    """
tmpdir=work
mkdir -p $tmpdir/{in,out}
for i in {1..3}; do echo "item $i" > "$tmpdir/in/file$i.txt"; done
shopt -s nullglob
files=($tmpdir/in/*.txt)
echo "${#files[@]} files"
for f in "${files[@]}"; do
  base=${f##*/}
  tr a-z A-Z < "$f" > "$tmpdir/out/${base%.txt}.up"
done
cat $tmpdir/out/*.up
for f in $tmpdir/none/*; do echo never; done
(cd $tmpdir && echo */)
rm -r $tmpdir
""",
    """
trap 'echo "caught USR1"; hits=$((hits+1))' USR1
hits=0
( sleep 0.2; kill -USR1 $$; sleep 0.2; kill -USR1 $$ ) &
wait $!; echo "interrupted $?"
wait
while ((hits < 2)); do sleep 0.01; done
echo "hits $hits"
""",
    """
json_escape() {
  local s=$1
  s=${s//\\\\/\\\\\\\\}
  s=${s//\\"/\\\\\\"}
  s=${s//$'\\n'/\\\\n}
  s=${s//$'\\t'/\\\\t}
  printf '"%s"' "$s"
}
json_escape 'plain'; echo
json_escape 'say "hi" \\ there'; echo
json_escape $'two\\nlines\\tand tab'; echo
""",
    """
declare -A graph=([a]='b c' [b]='d' [c]='d' [d]='')
declare -A seen
order=()
visit() {
  [[ -n ${seen[$1]} ]] && return
  seen[$1]=1
  local next
  for next in ${graph[$1]}; do visit "$next"; done
  order=("$1" "${order[@]}")
}
for node in a b c d; do visit $node; done
echo "${order[@]}"
""",
]
