"""Command lines of grep, each run by ours and by the genuine one with the same files."""

from __future__ import annotations

FILES = {
    "a": b"foo\nbar\nfoo bar\nbaz\n",
    "n": b"".join(b"%d\n" % i for i in range(1, 31)),
    "bin": b"x\x00foo\nfoo\n",
    "inv": b"foo\n\xff foo\nfoo2\n",
    "d/f": b"foo in d\n",
    "d/g.txt": b"z\n",
    "d/e/deep.log": b"deep foo\nERROR deep\n",
    "empty": b"",
    "nonl": b"last line",
    "pats": b"foo\nbaz\n",
    "emptypat": b"\n",
    "log": b"2024-01-01 ERROR db: timeout after 30ms\n"
    b"2024-01-01 INFO  web: ok code=200\n"
    b"2024-01-02 WARN  cache: miss key=user:42\n"
    b"2024-01-02 ERROR web: code=503 (upstream)\n",
    "words": b"foo foobar food_foo foo-bar\nbarfoo\n_foo\nfoo.\n",
    "utf": b"caf\xc3\xa9\nna\xc3\xafve CAF\xc3\x89\nplain\n\xe2\x82\xac 5\n",
    "yaml": b"spec:\n  replicas: 3\n  image: nginx:1.25\n    ports:\n    - containerPort: 80\n",
    "crlf": b"one\r\ntwo\r\n",
    "nul": b"a\x00b\nc\x00foo\n",
    "special": b"a*b\na+b\na?b\n[x]\n{2}\n(p)\n^c\nd$\nback\\slash\na.b\n/path/to\n",
    "rep": b"abab\nabcabc\naa\nabba\n",
}

LINES = r"""
grep foo a
grep -v foo a
grep -c foo a
grep -vc foo a
grep -i FOO a
grep -n foo a
grep -Hn foo a
grep foo a d/f
grep -h foo a d/f
grep -l foo a d/f d/g.txt
grep -L foo a d/f d/g.txt
grep -L foo a
grep -q foo a
grep -q nope a
grep -q foo nosuch a
grep -q nope nosuch a
grep -s foo nosuch
grep foo nosuch
grep foo d
grep -s foo d
grep foo d a
grep -d skip foo d a
grep -d read foo d
grep -d nothing foo d
grep -D nothing foo d
grep -o foo words
grep -on foo words
grep -ob foo words
grep -b foo a
grep -w foo words
grep -ow foo words
grep -wn 'foo.*' words
grep -wo 'foo[a-z]*' words
grep -x foo a
grep -xF 'foo bar' a
grep -x '' empty
grep -c '' a
grep '' empty
grep -vc '' a
grep -w '' a
grep -o '' a
grep -on 'o*' a
grep -e foo -e baz a
grep -f pats a
grep -vf pats a
grep -f empty a
grep -vf empty a
grep -cf emptypat a
grep -f nosuch a
grep -Ff pats a
grep -xf pats a
grep -A1 bar a
grep -B1 baz a
grep -C1 bar a
grep -1 bar a
grep -nA1 -B1 '5$' n
grep -n -o -A1 '5$' n
grep -c -A1 5 n
grep -nv -A1 '[0-8]$' n
grep -C1 --no-group-separator '5$' n
grep --group-separator=XX -C1 '5$' n
grep -2 -n 15 n
grep -12 -n 15 n
grep -A0 '5$' n
grep -m1 1 n
grep -m2 -c 1 n
grep -m0 1 n
grep -m1 -nA12 1 n
grep -m -1 -c 1 n
grep -m x 1 n
grep -m3 -n -v 1 n
grep -m1 foo a d/f
grep -A x foo a
grep -A -1 foo a
grep -C 1k foo a
grep -B 99999999999999999999 baz a
grep -A1 baz a a
grep -B1 -m1 foo a n
grep -r foo d
grep -rn foo d
grep -rl foo d
grep -rc foo d
grep -rh foo d
grep -r foo a
grep -rH foo a
grep -r foo d/
grep -r foo ./d/
grep -r --include='*.txt' . d
grep -r --exclude='*.txt' . d
grep -r --exclude-dir=e foo d
grep -r --include='*.log' --exclude='deep*' foo d
grep -r --exclude='deep*' --include='*.log' foo d
grep -R ERROR d
grep -rL foo d
grep -ro 'foo' d
grep --include='*.txt' foo a d/g.txt
grep --exclude=a foo a d/f
grep --exclude=d/f foo a d/f
grep --exclude=f foo a d/f
grep --exclude-from=pats foo a
grep foo bin
grep -c foo bin
grep -o foo bin
grep -n foo bin
grep -a foo bin
grep -I foo bin
grep -l foo bin
grep -v foo bin
grep -q foo bin
grep -c . bin
grep -ac . bin
grep --binary-files=text foo bin
grep --binary-files=without-match foo bin
grep --binary-files=foo foo a
grep foo bin a
grep foo inv
grep -U foo a
grep -z foo nul
grep -zc . nul
grep -zo 'b' nul
grep -T foo a
grep -nT foo a
grep -HnbT foo a
grep -HcT foo a
grep -Z -c foo a
grep -ZH foo a
grep -lZ foo a d/f
grep --null -Hn foo a
grep -u foo a
grep -y FOO a
grep --color=always foo a
grep --color=always -n -H foo a
grep --color=always -v foo a
grep --color=always -A1 -n bar a
grep --color=always -ob foo a
grep --color=always -cH foo a
grep --color=always -l foo a
grep --color=always -C1 -nv '[0-8]$' n
grep --color=never foo a
grep --color foo a
grep --colour=auto foo a
grep --line-buffered foo a
grep -E 'ERROR|WARN' log
grep -Ec 'code=[0-9]{3}' log
grep -oE 'code=[0-9]+' log
grep -oE '[0-9]{4}-[0-9]{2}-[0-9]{2}' log
grep -oP 'code=\K\d+' log
grep -P '^\S+ ERROR\b' log
grep -oP '(?<=key=)\w+:\d+' log
grep -oP '(?<!code=)\b\d{2}\b' log
grep -P '(\d)\1' log
grep -iP 'error(?! db)' log
grep -oP '(?i)error|info' log
grep -oP '"?\w+=(\d+)"?' log
grep -P '(' log
grep -P 'a{2,1}' log
grep -P '*a' log
grep -P '[[:foo:]]' log
grep -P '(?<=a+)b' log
grep -P '\p{Foo}' log
grep -P -e a -e b log
grep -oP '\d+(?=ms)' log
grep -oP '^(?:(?!ERROR).)*' log
grep -oP '(?<d>\d)\k<d>' log
grep -oP 'o++' a
grep -oP '(?>fo+)\s' a
grep -oP '[[:upper:]]+' log
grep -cP '\s{2,}' log
grep -wP 'foo' words
grep -xP 'foo.*' words
grep -E '(' a
grep -E ')' special
grep '\(' a
grep '\)' a
grep '[' a
grep '[a' a
grep '[[:foo:]]' a
grep '[:space:]' a
grep '[b-a]' a
grep 'a\' a
grep -E 'a{2,1}' a
grep -E 'a{99999}' a
grep 'a\{1' a
grep 'a\{1a\}' a
grep '\1' a
grep -E '(a)\2' a
grep -E '*a' a
grep -E '+a|b' a
grep -E '^*foo' a
grep -E '(*b)' a
grep -E '{1}a' a
grep -E 'a**' a
grep 'a*b' special
grep 'a\*b' special
grep '*b' special
grep 'a+b' special
grep -E 'a\+b' special
grep 'a\+' special
grep 'a.b' special
grep -F 'a.b' special
grep -F '*' special
grep -F '\' special
grep '\\' special
grep '\[x\]' special
grep '[][x]' special
grep -E '[{}]' special
grep -E 'a|' special
grep -E '()' special
grep '^\^' special
grep '\$$' special
grep 'd$' special
grep '^c\|d$' special
grep -E '^(a.b|\(p\))$' special
grep '\(ab\)\1' rep
grep -E '(abc)\1|(a)\2' rep
grep -E '^(.)(.)\2\1$' rep
grep -oE '(a|ab)(c|bcd)?' rep
grep -n '^  [a-z]*:' yaml
grep -A2 'spec:' yaml
grep -E '^\s+-' yaml
grep 'e$' crlf
grep '\bfoo\b' words
grep '\<foo' words
grep 'foo\>' words
grep -o '\w*foo\w*' words
grep '\Bfoo' words
grep -o '\w\+\W' words
grep -i 'café' utf
grep -o 'caf.' utf
grep last nonl
grep -c last nonl
grep -o line nonl
grep
grep -k
grep --foo
grep -e
grep --regexp
grep --no foo a
grep --count=3 foo a
grep -E -F 'o+' a
grep -F -P 'o+' a
grep -E -E 'o+' a
grep -lc foo a
grep -lq foo a
grep -lL foo a
grep -Ll foo a
grep -hH foo a
grep -Hh foo a
grep -i --no-ignore-case FOO a
grep -- -v a
grep -e -v a
grep foo -n a
grep -nfpats a
grep -nefoo a
grep -A1B1 foo a
grep -rn
egrep 'foo|baz' a
egrep -c '(' a
fgrep -n foo a
rgrep foo d
grep -rs foo d nosuch
""".strip().split("\n")

ON_STDIN = [
    ("grep foo", b"foo\nbar"),
    ("grep -c foo -", b"foo\nfoo\n"),
    ("grep -H foo", b"foo\n"),
    ("grep -n foo - a", b"foo\n"),
    ("grep --label=X -H foo", b"foo\n"),
    ("grep -l foo", b"foo\n"),
    ("grep -f - a", b"baz\n"),
    ("grep -nT ''", b"\n\nx\n"),
    ("grep -z b", b"a\x00b\x00"),
    ("grep -zv b", b"a\x00b"),
    ("grep -r foo -", b"foo\n"),
    ("grep -ob .", b"ab\ncd\n"),
    ("grep foo", b"\x00foo\n"),
    ("grep -c foo", b"\x00foo\x00foo\n"),
    ("grep foo -", b"foo\x00\n"),
    ("grep -v x", b"a\nx\nb"),
    ("grep -q x", b"x\n"),
    ("grep -L x", b"a\n"),
]
"""Command lines, and what they are given on standard input."""
