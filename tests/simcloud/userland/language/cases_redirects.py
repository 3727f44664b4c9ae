"""Redirections, here-documents, pipes, process substitution."""

CASES = [
    r"""echo a > f; echo b >> f; cat f; echo c >| f; cat f; cat < f; cat 0< f; > f; wc -c < f""",
    r"""ls /nonexistent 2> e; wc -l < e; ls /nonexistent > o 2>&1; wc -l < o; ls /nonexistent &> b; wc -l < b; ls /nonexistent &>> b; wc -l < b""",
    r"""{ echo out; echo err >&2; } > o 2> e; cat o e; { echo out; echo err >&2; } 2>&1 | sort; { echo out; echo err >&2; } 2>&1 >/dev/null | cat""",
    r"""echo x >&2 2>/dev/null; echo y 2>/dev/null >&2; echo z >/dev/null 2>&1; echo w 1>&2 2>&1""",
    r"""exec 3> f; echo a >&3; echo b 1>&3; exec 3>&-; cat f; exec 4< f; read x <&4; echo $x; read x <&4; echo $x; exec 4<&-""",
    r"""exec 3<> rw; echo hello >&3; exec 3>&-; cat rw; exec {fd}> v; echo x >&$fd; exec {fd}>&-; cat v; [ $fd -ge 10 ] && echo high""",
    r"""exec 5>&1; echo to5 >&5; exec > f; echo hidden; exec >&5; echo visible; cat f""",
    r"""cat <<E
plain $HOME \$x `echo bq` $(echo sub) $((1+1)) "dq" 'sq' \\ \" \a
E""",
    r"""cat <<'E'
$HOME `x` $(y) \\ \$
E""",
    r"""cat <<"E"
$HOME
E
cat <<\E
$HOME
E""",
    "cat <<-E\n\ttab\n\t\ttwo\n  spaces\n\tE",
    "cat <<A <<B; cat <<C\na\nA\nb\nB\nc\nC",
    "cat <<A | tr a-z A-Z && echo ok\nlower\nA",
    'x=$(cat <<E\nin sub\nE\n); echo "[$x]"',
    'while read l; do echo "<$l>"; done <<E\none\ntwo  three\n\\back\nE',
    'cat <<E\nline1\\\ncontinued\n${x:-default}\n${y:-"quoted"}\nE',
    "f() { cat <<E\nfunc $1\nE\n}; f arg; if true; then cat <<E\nin if\nE\nfi",
    "cat <<'EOF'\na\nEOF b\n EOF\nEOF",
    "cat <<E\nunterminated",
    "cat 3<<E <&3\nvia 3\nE",
    r"""cat <<< word; cat <<< "two words"; cat <<< $HOME; x='a  b'; cat <<< $x; cat <<< "$x"; cat <<< ''; cat <<<'multi
line'""",
    r"""tr a-z A-Z <<< hello; read a b <<< '1 2 3'; echo "$a|$b"; wc -c <<< abc""",
    r"""cat <(echo a) <(echo b); comm -12 <(echo x) <(echo x); wc -l < <(printf '1\n2\n')""",
    r"""while read x; do echo "got $x"; done < <(echo a; echo b); paste <(seq 3) <(seq 4 6)""",
    r"""echo data > >(cat); wait; sleep 0.3; echo a | tee >(cat >/dev/null) | cat""",
    r"""printf 'a\nb\n' | tee >(wc -l) | cat; tee >(wc -c >&2) <<< hello; sleep 0.3; echo done""",
    r"""echo <(true) | sed 's/[0-9]*$//'; [ -e <(true) ] && echo exists""",
    r"""echo a | cat | cat | tr a b; echo a |& cat; ls /nonexistent |& wc -l""",
    r"""echo a | (cat; echo b) | { cat; echo c; } | while read x; do echo "-$x"; done""",
    r"""cat nosuchfile; echo $?; cat < nosuchfile; echo $?; echo > /nonexistent/f; echo $?; : < nosuch || echo failed""",
    r"""echo a > /; echo $?; echo > ''; echo $?; cat <&9; echo $?; echo a >&9; echo $?; echo x > a b; cat a""",
    r"""x='a b'; echo hi > $x; echo $?; echo hi > "$x"; cat "a b"; y=; echo hi > $y; echo $?; echo hi > *; echo $?""",
    r"""set -C; echo a > f; echo b > f; echo $?; echo c >| f; cat f; echo d >> f; cat f; set +C; echo e > f; cat f""",
    r"""if true; then echo a; echo b >&2; fi > o 2> e; cat o e; for i in 1 2; do echo $i; done > o; cat o; while read x; do echo "r$x"; done < o""",
    r"""f() { echo out; echo err >&2; }; f > o 2>/dev/null; cat o; f 2>&1 >/dev/null; (echo sub) > o; cat o; { echo g; } >> o; cat o""",
    r"""echo a 3>&1 1>&2 2>&3 | cat; { echo out; echo err >&2; } 3>&1 1>&2 2>&3 3>&- 2>/dev/null""",
    r"""cat /dev/stdin <<< dev; echo a | cat /dev/fd/0; echo b > /dev/stdout; echo c > /dev/stderr 2>/dev/null; cat - <<< dash""",
    r"""f() { for l in p f c s h r; do [ -$l /dev/stdin ] && echo -n $l; done; echo; }; echo a | f; f < /dev/null; echo a > g; f < g; f <<< a; [[ -p /dev/fd/0 ]] < <(echo a) && echo p""",
    r"""exec 2>/dev/null; nosuchcommand; echo $?; ls /nonexistent; echo still""",
    r"""echo a > f; exec < f; read x; echo $x; read y; echo $? "[$y]" """,
    r"""printf '1\n2\n3\n' > f; { read a; read b; cat; } < f; echo $a $b; (read a; echo $a; head -1) < f""",
    r"""printf '1\n2\n3\n' | { read a; echo "first $a"; cat; }; printf 'x y\nz\n' | (read a b; echo $b; read c; echo $c)""",
    r"""> empty; cat empty; echo $?; 2>err >out; ls out err; < empty; echo $?""",
    r"""echo a > f1 > f2; cat f1; cat f2; cat < f1 < f2; echo b 2>&1 > f1; cat f1""",
    r"""echo x >&-; echo $?; echo y 2>&-; ls nosuch 2>&-; echo $?""",
    r"""x=$(< /dev/null); echo "[$x]"; echo content > f; y=$(<f); echo "[$y]"; z=`<f`; echo "[$z]"; echo "$(< nosuch)"; echo $?""",
    r"""mkdir d; cd d; echo x > ../up; cat ../up; cd ..; echo y > ./d/in; cat d/in; rm -r d; ls""",
    r"""echo one > f; cat f - <<< two; cat <<< "$(cat f)" """,
    r"""yes | head -2; seq 100000 | head -1; echo ${PIPESTATUS[1]}""",
    r"""(echo a; echo b >&2) 2>&1 | cat; (echo a >&2) 2>/dev/null; ((echo x) 2>&1) | cat""",
    r"""{ echo 1; { echo 2; } >&2; echo 3; } 2>/dev/null; for i in a b; do { echo $i; } 2>&1; done | sort -r""",
    r"""echo err >&2 | cat; echo a 1>f 2>&1; cat f; cat 2>/dev/null nosuch f""",
    r"""f() { while read -r line; do printf '%s;' "$line"; done; }; printf 'a\nb\n' | f; echo; f <<< c; echo; f < <(echo d); echo""",
    r"""exec 3>&1; x=$(echo captured; echo direct >&3); echo "[$x]"; exec 3>&-""",
    r"""cat > out <<E
to file
E
cat out; cat <<E > out2 && cat out2
redirected
E""",
    r"""echo a >f; echo b >f & wait; cat f; { sleep 0.01; echo later; } > f & wait; cat f""",
    r"""wc -l <<E
1
2
E
sort <<E | head -1
b
a
E""",
    r"""read x < nosuch; echo $?; read x <<< val && echo $x; mapfile -t a <<< $'1\n2'; echo ${#a[@]} ${a[1]}""",
    r"""echo 2>&1 a; echo a 2>& 1; echo b >& 1; echo 3> f c; cat f; echo a2>f; cat f; echo "2">f; cat f""",
]
