"""Idioms of operators at a terminal, as far as the shell itself is concerned."""

CASES = [
    r"""for i in {1..3}; do echo "try $i"; [ $i -eq 2 ] && { echo ok; break; }; done""",
    r"""while IFS='=' read -r key value; do printf '%s -> %s\n' "$key" "$value"; done < <(printf 'a=1\nb=x=y\n')""",
    r"""x=$(printf '%s\n' web-1 web-2 db-0 | grep -c web) && echo "found $x" || echo none""",
    r"""out=$(ls /nonexistent 2>&1) || echo "failed with $?: ${out%%:*}" """,
    r"""if ! out=$(false); then echo "rc=$?"; fi; if out=$(echo hi); then echo "$out"; fi""",
    r"""[[ $(echo Running) == Running ]] && echo healthy; test "$(echo 3)" -gt 2 && echo many""",
    r"""n=$(echo 5); for ((i=n; i>0; i--)); do printf '%d ' "$i"; done; echo liftoff""",
    r"""(set -o pipefail; printf 'a\nb\n' | grep z | wc -l; echo "status ${PIPESTATUS[*]}")""",
    r"""declare -A limits=([cpu]=500m [mem]=256Mi); for k in cpu mem; do echo "$k=${limits[$k]%[mM]*}"; done""",
    r"""v=v1.24.3; v=${v#v}; IFS=. read -r major minor patch <<< "$v"; echo $((major*10000+minor*100+patch))""",
    r"""name=frontend-7d9f8b6c5-x2x4z; echo ${name%-*-*} ${name##*-} ${name%%-*}""",
    r"""image=registry.local:5000/team/app:1.2.3; echo ${image##*/} ${image%:*} ${image##*:} ${image%%/*}""",
    r"""kv='{"a":1}'; echo $kv "$kv"; q='"quoted"'; echo "${q//\"/}"; echo "{\"name\":\"$USER_X\"}" """,
    r"""url=http://host:80/p?q=1; proto=${url%%://*} rest=${url#*://}; echo $proto ${rest%%/*} ${rest#*:} /${rest#*/}""",
    r"""f() { local IFS=,; echo "$*"; }; f a b c; join() { local d=$1; shift; printf '%s' "$1"; shift; printf '%s' "${@/#/$d}"; echo; }; join : x y z""",
    r"""pct=$(( 37 * 100 / 250 )); bar=$(printf '#%.0s' $(seq 1 $pct)); echo "$pct% [$bar]" """,
    r"""printf '%-10s|%8s|%6.2f%%\n' cpu 250m 12.345 mem 128Mi 99.9; printf '%s\t%s\n' a b c d""",
    r"""now=1700000000; printf '%(%Y-%m-%dT%H:%M:%SZ)T\n' $now; echo $(( (now - 1699990000) / 60 ))m""",
    r"""cat <<EOF | while read -r pod phase; do case $phase in Running) ;; *) echo "$pod is $phase";; esac; done
a Running
b Pending
c Failed
EOF""",
    r"""tmp=$(mktemp -d); trap 'rm -rf "$tmp"; echo gone' EXIT; echo x > "$tmp/f"; cat "$tmp/f"; [ -d "$tmp" ] && echo there""",
    r"""echo '#!/bin/sh
echo "args: $*"
exit $#' > tool; chmod +x tool; ./tool a b; echo $?; PATH=$PWD:$PATH; tool; echo $?; command -v tool | sed 's,.*/,,'""",
    r"""env FOO=1 bash -c 'echo ${FOO:-unset} ${BAR:-unset}'; BAR=2 bash -c 'echo ${BAR}'""",
    r"""seq 5 | xargs -n2 echo; printf 'a b\nc\n' | xargs -I{} bash -c 'echo "[{}]"'; echo 1 2 3 | xargs printf '%s-'; echo""",
    r"""find . -maxdepth 0 -exec bash -c 'echo "$0 $1"' name {} \;; echo hi | tee a b > /dev/null; cat a b""",
    r"""yes no | head -3 | while read -r a; do ((c++)); echo "$c $a"; done; echo "${c:-outer}" """,
    r"""set -- $(echo 1 2 3); echo $#; set -- "$@" 4; echo "$*"; args=("$@"); unset 'args[0]'; echo "${args[@]}" """,
    r"""ok=0; total=0; for s in 200 200 500 404 200; do ((total++)); [[ $s =~ ^2 ]] && ((ok++)); done; echo "$ok/$total"; echo "scale: $((ok*100/total))%" """,
    r"""timeout 5 bash -c 'echo in time'; timeout 0.05 sleep 5; echo $?; timeout 1 bash -c 'exit 7'; echo $?""",
    r"""( lockit() { :; }; echo "$(type -t lockit)" ); type -t lockit >/dev/null && echo leaked || echo clean""",
    r"""sudo() { "$@"; }; sudo echo as root; watch() { for i in 1 2; do "${@:1}"; done; }; watch echo tick""",
    r"""x=5; y=abc; [ "$x" -eq "$x" ] 2>/dev/null && echo num; [ "$y" -eq "$y" ] 2>/dev/null || echo nan; [[ $x =~ ^-?[0-9]+$ ]] && echo int""",
    r"""lines=$'b 2\na 1\nc 3'; sort <<< "$lines" | { read -r first _; echo $first; cat; }; while read -r k v; do eval "$k=$v"; done <<< "$lines"; echo $((a+b+c))""",
    r"""log=$(mktemp); exec 9>"$log"; BASH_XTRACEFD=2; echo note >&9; exec 9>&-; cat "$log"; rm "$log" """,
    r"""if grep -q root /etc/passwd && [[ -r /etc/passwd ]]; then echo readable; fi; grep -q nosuchuser /etc/passwd; echo $?""",
    r"""h=1; case $h in 0|1) echo low ;;& [0-9]) echo digit ;; esac; select_one() { echo "${!1}"; }; target=value; select_one target""",
    r"""printf 'one\0two\0' | while IFS= read -r -d '' x; do echo "<$x>"; done; printf 'a\nb\n' | mapfile -t arr; echo ${#arr[@]}""",
    r"""echo "$(cd / && pwd) $(pwd | sed 's,.*,here,')"; (cd /tmp && echo "${PWD}"); dirname /a/b/c; basename /a/b/c.txt .txt""",
    r"""diff_s=$(( $(date -u -d @100 +%s) - $(date -u -d @40 +%s) )); echo $diff_s; date -u -d @0 +%F""",
    r"""! grep -q x <<< abc && echo absent; [[ abc == *b* && ! abc == *x* ]] && echo contains; [ -z "$(echo)" ] && echo empty""",
    r"""i=0; until ((i >= 3)); do echo $((i++)); done; while ((i --> 0)); do printf '%d' $i; done; echo""",
    r"""echo a; { echo b; exit 3; }; echo never""",
    r"""bash -c 'trap "echo cleanup" EXIT; exit 2'; echo $?; bash -c 'kill -TERM $$; echo never'; echo $?; bash -c 'exit 256'; echo $?""",
    r"""bash <<'E'
x=inner
echo $x $0
E
bash -s -- a b <<< 'echo $# $1'; bash /dev/stdin q <<< 'echo from stdin $1'""",
    r"""cmd="echo 'a b'"; $cmd; eval "$cmd"; bash -c "$cmd"; arr=(echo 'a b'); "${arr[@]}" """,
    r"""echo \$HOME '$HOME' "\$HOME" $'\$HOME'; echo "tick \`x\`"; echo 'a'\''b'; echo "a'b" 'a"b'""",
    r"""read -r a b <<< "$(echo 1 2)"; echo $((a+b)); IFS=/ read -ra p <<< /usr/local/bin; echo ${#p[@]} ${p[2]}""",
    r"""a="x"; a+=y; a="$a"z; echo $a${a}"$a"'$a'; unset a; echo "[${a}]" ${a:-none}; : ${a:=set}; echo $a""",
    r"""[ -n "${KUBECONFIG:-}" ] || echo "no config"; export KUBECONFIG=${KUBECONFIG:-$HOME/.kube/config}; echo $KUBECONFIG""",
    r"""echo start; sleep 0.01 & wait $! && echo slept; { sleep 0.01; false; } & wait $! || echo "job failed: $?" """,
    r"""for f in /etc/passwd /nonexistent; do [[ -f $f ]] && echo "$f ok" || echo "$f missing"; done; ls /nonexistent /etc/passwd 2>/dev/null""",
]
