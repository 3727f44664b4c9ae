"""Lists, conditions, loops, functions, set -e."""

CASES = [
    r"""true && echo a || echo b; false && echo a || echo b; false || false || echo c; true && true && false; echo $?""",
    r"""! true; echo $?; ! false; echo $?; ! ! true; echo $?; ! false && echo neg""",
    r"""if true; then echo t; fi; if false; then echo t; else echo f; fi; if false; then :; fi; echo $?""",
    r"""x=3; if [ $x = 1 ]; then echo one; elif [ $x = 2 ]; then echo two; elif [ $x = 3 ]; then echo three; else echo other; fi""",
    r"""if a=1; b=2; [ $a = $b ]; then echo eq; else echo ne $a $b; fi; if ! grep -q x /dev/null; then echo none; fi""",
    r"""for i in 1 2 3; do echo $i; done; for i in; do echo never; done; echo $?; for i in "a b" c; do echo "[$i]"; done""",
    r"""set -- x 'y z'; for a; do echo "<$a>"; done; for a in "$@"; do echo "<$a>"; done; for a in $@; do echo "<$a>"; done""",
    r"""for i in 1 2 3 4 5; do [ $i = 2 ] && continue; [ $i = 4 ] && break; echo $i; done; echo end $i""",
    r"""for i in 1 2; do for j in a b c; do [ $j = b ] && continue 2; echo $i$j; done; done; for i in 1 2; do for j in a b; do break 2; done; echo never; done; echo $i$j""",
    r"""i=0; while [ $i -lt 3 ]; do echo $i; i=$((i+1)); done; while false; do :; done; echo $?; i=3; until [ $i = 0 ]; do ((i--)); done; echo $i""",
    r"""while true; do break; done; echo $?; while :; do false; break; done; echo $?; while (exit 3); do :; done; echo $?""",
    r"""n=0; while read -r a b; do echo "$b $a"; ((n++)); done <<< $'1 one\n2 two\n3 three'; echo $n""",
    r"""printf '1\n2\n' | while read x; do y=$x; echo $x; done; echo "[$y]" """,
    r"""while read x; do y=$x; done < <(printf '1\n2\n'); echo $y""",
    r"""case abc in a*) echo 1;; abc) echo 2;; esac; case x in a|b) echo ab;; c|x) echo cx;; esac; case q in a) ;; esac; echo $?""",
    r"""case a in a) echo 1;& b) echo 2;& c) echo 3;; d) echo 4;; esac; case abc in a*) echo 1;;& *b*) echo 2;;& *z*) echo 3;;& *) echo 4;; esac""",
    r"""x='a b'; case $x in 'a b') echo q;; esac; case "$x" in a*b) echo g;; esac; y='*'; case abc in $y) echo var;; esac; case abc in "$y") echo no;; *) echo lit;; esac""",
    r"""case x in (x) echo paren;; esac; case "" in "") echo empty;; esac; case a]b in a]b) echo br;; esac; case '[' in [[]) echo sq;; esac; case - in [a-]) echo dash;; esac""",
    r"""case 5 in [0-9]) echo digit;; esac; case foo.txt in *.txt|*.md) echo doc;; esac; case ab in ?) echo one;; ??) echo two;; esac; case A in [[:lower:]]) echo l;; [[:upper:]]) echo u;; esac""",
    """case x in
  a)
    echo a
    ;;
  x)
    echo multi
    echo line
    ;;
esac""",
    r"""f() { echo "f: $# $1"; return 3; }; f a b; echo $?; f; function g { echo g; }; g; function h() { echo h; }; h""",
    r"""f() { local x=in y; y=2; z=glob; echo $x $y; }; x=out; f; echo $x "[$y]" $z""",
    r"""f() { local v=1; g; echo f $v; }; g() { echo g sees $v; v=2; }; v=0; f; echo $v""",
    r"""f() { echo $1; shift; [ $# -gt 0 ] && f "$@"; }; f a b c; echo $?""",
    r"""f() { return; }; false; f; echo $?; f() { false; return; }; f; echo $?; f() { return 256; }; f; echo $?; f() { return -1; }; f; echo $?""",
    r"""f() { for i in 1 2 3; do return 7; done; }; f; echo $?; f() { while :; do (exit 4); return $?; done; }; f; echo $?""",
    r"""f() ( x=sub; echo $x; exit 5 ); x=main; f; echo $? $x""",
    r"""f() { cat; } <<< heredata; f; f() { echo out; } > /dev/null; f; echo done""",
    r"""f() { echo old; }; f; f() { echo new; }; f; unset -f f; f; echo $?""",
    r"""f() { echo $0 $# "$@" | sed 's/^[^ ]* //'; }; f 1 2; set -- a b c; f; echo $#""",
    r"""a() { b; }; b() { c; }; c() { echo ${FUNCNAME[*]}; }; a""",
    r"""f() { f2() { echo inner; }; f2; }; f; f2; if true; then g() { echo g; }; fi; g""",
    r"""f() { unset -f f; echo once; }; f; f 2>/dev/null || echo gone""",
    r"""{ echo a; echo b; } | sort -r; { echo c; }; (echo d; echo e) | wc -l; ( (echo nested) )""",
    r"""x=1; { x=2; }; echo $x; (x=3; echo $x); echo $x; { x=4; } | cat; echo $x""",
    r"""(exit 3); echo $?; (false); echo $?; (true; exit 7; echo never); echo $?; { (exit 9); }; echo $?""",
    r"""echo a | { read x; echo "got $x"; }; echo a | (read x; echo $x); echo b | read y; echo "[$y]" """,
    r"""set -e; echo a; false; echo never""",
    r"""set -e; false || true; false && true; if false; then :; fi; ! true; while false; do :; done; echo survived""",
    r"""set -e; f() { false; echo in f; }; f || echo caught; f; echo never""",
    r"""set -e; (false; echo never); echo never2""",
    r"""set -e; x=$(false); echo never""",
    r"""set -e; echo $(false; echo sub); echo ok""",
    r"""set -e; true | false; echo never""",
    r"""set -e; false | true; echo ok; set -o pipefail; false | true; echo never""",
    r"""set -e; local_test() { local x=$(false); echo local ok; }; local_test; export y=$(false); echo export ok""",
    r"""set -e; { false; } || echo group; { false; echo never; }; echo never2""",
    r"""set -e; [ 1 = 2 ] && echo no; echo yes; ((0)); echo never""",
    r"""set -e; case x in x) false;; esac; echo never""",
    r"""set -e; for i in 1 2; do false; done; echo never""",
    r"""set -e; eval false; echo never""",
    r"""set -e; trap 'echo exit $?' EXIT; false; echo never""",
    r"""set +e; set -e; set +e; false; echo fine""",
    r"""set -o pipefail; true | false | true; echo $?; (exit 2) | (exit 3) | true; echo $?; set +o pipefail; false | true; echo $?""",
    r"""set -euo pipefail; x=1; echo "${x}"; echo "${undefined:-default}"; [[ $x == 1 ]] && echo one""",
    r"""set -n; echo never""",
    r"""set -x; echo a 'b c' "" $HOME; x=1; y='a b'; [ 1 = 1 ]; set +x; echo d""",
    r"""set -x; for i in 1 2; do echo $i; done; if true; then :; fi; case a in a) :;; esac; ((1+1)); [[ a == b ]]; set +x""",
    r"""set -x; x=$(echo sub); f() { echo in; }; f; (echo subshell); { :; }""",
    r"""PS4='> '; set -x; echo a; eval 'echo b'; x=$(echo c)""",
    r"""set -v; echo a
echo b""",
    r"""{ time true; } 2>/dev/null; { time :; } 2>&1 | grep -c real; { time -p :; } 2>&1 | head -1 | cut -c1-6""",
    r"""true; echo $?; false; echo $?; nosuch_cmd 2>/dev/null; echo $?; /nonexistent/x 2>/dev/null; echo $?; /etc 2>/dev/null; echo $?""",
    r"""echo a & wait; echo b; (sleep 0.2; echo late) & echo early; wait; echo $?""",
    r"""exit 3; echo never""",
    r"""(exit); echo $?; false; (exit); echo $?""",
    r"""f() { exit 4; }; f; echo never""",
    r"""echo before; exit 300""",
    r"""exit -1""",
    r"""eval 'echo a; echo b'; eval echo '$((1+2))'; eval "x=5"; echo $x; eval; echo $?; eval 'false'; echo $?; eval 'if true; then echo nested; fi'""",
    r"""for i in 1 2 3; do
  echo $i
done | tail -1
while :
do
  echo once
  break
done""",
    r"""if true
then echo a
fi; for i in 1
do echo $i
done; f()
{
  echo f
}
f""",
    r"""a=1; if [[ $a == 1 ]] && [[ -n $a ]]; then echo both; fi; [[ -z $b || $a == 2 ]] && echo either""",
    r"""x=0; for i in {1..5}; do x=$((x+i)); done; echo $x; for i in $(seq 3); do echo -n $i; done; echo""",
    r"""for x in a b; do case $x in a) continue;; esac; echo $x; done; for i in 1 2 3; do if [ $i = 2 ]; then break; fi; done; echo $i""",
    r"""break; echo $?; continue; echo $?; for i in 1; do break 5; done; echo $?; for i in 1; do break 0; done; echo $?""",
    r"""f() { break; }; for i in 1 2; do f; echo $i; done""",
    r"""for i in 1 2; do (break); echo $i; done""",
    r"""! { false; }; echo $?; if ! { true; }; then echo no; else echo yes; fi""",
    r"""true || { echo never; }; false || { echo braces; } && echo chain; true && { false; } ; echo $?""",
    r"""if [ -z "" ] && ! [ -n "" ]; then echo ok; fi; [ ! "" ] && echo notempty; [ ! a ] || echo isset""",
    r"""f() { local a=(1 2 3); echo ${a[1]}; }; f; echo "[${a[1]}]"; g() { declare x=5; declare -g y=6; }; g; echo "[$x]" $y""",
    r"""readonly R=5; R=6; echo never
echo $R""",
    r"""f() { local x; echo "[${x-unset}]"; x=1; unset x; echo "[${x-unset}]"; }; x=global; f; echo $x""",
    r"""x=1 eval 'echo $x'; echo "[$x]"; f() { echo $v; }; v=temp f; echo "[$v]"; v=1 : ; echo "[$v]" """,
    r"""IFS=: read a b <<< x:y; echo $a $b; IFS=, ; set -- a,b; echo $1""",
    r"""return 3; echo $?""",
    r"""true |
cat |
wc -l; true &&
echo joined; false ||

echo blank""",
    r"""i=0; while ((i<3)); do case $i in 1) ((i++)); continue;; esac; echo $i; ((i++)); done""",
    r"""while read -r l; do [[ $l == b ]] && break; echo $l; done <<E
a
b
c
E
echo after""",
    r"""function with-dash { echo dash; }; with-dash; a.b() { echo dot; }; a.b; _x() { echo us; }; _x""",
]
