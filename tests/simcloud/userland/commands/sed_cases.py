"""Scripts and command lines of sed, each run by ours and by the genuine one with the same files."""

from __future__ import annotations

FILES = {
    "a": b"foo\nbar\nfoo bar\nbaz\n",
    "n": b"".join(b"%d\n" % i for i in range(1, 13)),
    "nonl": b"last",
    "empty": b"",
    "slash": b"a/b\na\\b\na+b\n[x]\\^.*$&\n",
    "aab": b"a/b\na+b\naab\n",
    "conf": b"# comment\nkey = value\n\n[section]\nport=8080 # web\nhost=localhost\n",
    "log": b"2024-01-01 ERROR db: timeout\n2024-01-02 INFO web: ok\n",
    "ctl": b"a\tb\\\x01\xff\r\x08\x0c\x0b\x07\x00z\n",
    "long": b"x" * 150 + b"\n",
    "nul": b"a\x00b\nc\x00",
    "utf": b"a\xc3\xa9X\ncaf\xc3\xa9\n",
    "s1": b"p\nk\n",
    "s2": b"p\n{p\n",
    "s3": b"#n\np\n",
    "s4": b"a\\",
    "s5": b"s/a/X/\ns/o/0/g\n",
    "d/x": b"in d\n",
    "yaml": b"spec:\n  replicas: 1\n  image: nginx:1.24\n",
}

_SCRIPTS = r"""
p|aab
s/a/X/|aab
s/a/X/g|aab
s/a/X/2|aab
s/a/X/2g|aab
s/A/X/I|aab
s/A/X/i2|aab
s/a/X/gp|aab
s/a/X/w out|aab
s/a/X/w /dev/stdout|aab
s/a/X/;s/b/Y/|aab
s/a/b/ ; p|aab
s/a/b/ p|aab
s/x*/-/g|aab
s/b*/-/2|aab
s/a*/x/g|slash
s/\(^a\)*/x/g|slash
s/\b/|/g|slash
s/\B/|/g|slash
s/\</|/g|slash
s/\>/|/g|slash
s/b*$/|/g|slash
s/^/|/g|slash
s/$/|/|slash
s/x\?/|/3|slash
s/[/]/x/|slash
s/[^/]*/x/|slash
s/[]/]/x/|slash
s/[^]/]/x/|slash
s/[\/]/X/|slash
s,[\,],X,|slash
s/[\\]/X/|slash
s/[\]/X/|slash
s/[[.-.]/]/X/|slash
s/[[:alpha:]/]/x/|slash
s/[[]/]/X/|slash
s/\[/]/|slash
s/a[/x/|slash
s/[/x/|slash
s|a\|b|X|g|slash
s+a\+b+X+|slash
s,a\{1\,2\}b,X,|aab
s.a\.b.X.|slash
s/a/[&\&]/|aab
s/a/x\ny/|aab
s/a/\t|/|aab
s/a/\x41\o102\d067/|aab
s/\x61/X/|aab
s/a\x2bb/X/|aab
s/a/\x26/|aab
s/\x5e/X/|aab
s/\x5b/X/|aab
s/\x5c/X/|aab
s/b\x24/X/|aab
s/[\x2a]/X/|slash
s/[\t]/X/|ctl
s/a/\x5c/|aab
s/a/\x5cn/|aab
s/a/\cA/|aab
s/a/\U&b\Ec/|aab
s/\(a\)\(.\)/\u\1\U\2x\E-\l\2/|aab
s/\w\+/\u&/g|a
s/.*/\U&/|a
s/\(.*\) \(.*\)/\2 \1/|a
s/a/\lX\uy\Uz\LQ\Ew/|aab
s/\(x\)*a/[\1]/|aab
s/a/\
/|aab
s&a&\&&|aab
s1a1\11|aab
snan\nn|aab
s/a/\//|aab
s/\(a\)\(b\)\?/\2\1\0/|aab
s/a/b|aab
s/a|aab
s|aab
sa|aab
s/a/b/k|aab
s/a/b/gg|aab
s/a/b/pp|aab
s/a/b/0|aab
s/a/b/12 3|aab
s/a/b/w|aab
s/\(a\)/\2/|aab
s/a/\1/|aab
s//x/|aab
/a/s//X/g|aab
/a/s//X/Ig|aab
/\(a\)/s//\2/|aab
s/\(/x/|aab
s/\(/x/;p|aab
s/a**/x/|aab
s/\{1\}/x/|aab
s/[[:foo:]]/x/|aab
s/[:space:]/x/|aab
s/a\{2,1\}/x/|aab
s/[b-a]/x/|aab
s/\1/x/|aab
s/a/\|aab
s/é/e/|utf
s/./X/g|utf
y/é/e/|utf
y/abc/xyz/|a
y/a+/\n\//|aab
y/ab/x/|aab
y/a/b|aab
y/a/b/x|aab
y,a\,b,123,|aab
y/a\\b/123/|slash
y/a\b/123/|slash
p;p;|aab
p p|aab
}|aab
{p|aab
{p;}|aab
{p}|aab
{;p;}|aab
{1}|aab
{p;1}|aab
{s/a/x/g}|aab
1,2,3p|aab
1!!p|aab
1! p|aab
 1 p|aab
1,p|aab
,2p|aab
+2p|aab
0p|aab
0,2p|aab
0,/a/d|aab
0,/a/I{s/a/X/}|aab
1~p|aab
0~2d|n
2~3d|n
2~0d|n
1,~4d|n
2,~4d|n
4,~4d|n
1,+2d|n
/5/,+2d|n
2,4d|n
4,2d|n
2,/4/d|n
/2/,/4/d|n
/4/,2d|n
/2/,$d|n
$d|n
$!d|n
2!d|n
2,4!d|n
/a|aab
/a/I,/b/Md|aab
/a/Xd|aab
\,a/b,d|slash
\+a\+b+d|slash
/a\/b/d|slash
/[/]/d|slash
/x/I!d|slash
\|aab
\a|aab
k|aab
1k|aab
1|aab
:|aab
: |aab
:a|aab
1:a|aab
{:a}|aab
:a}|aab
bx|aab
b nolabel|aab
1}|aab
1#x|aab
#x|aab
#n|aab
a|aab
a\|aab
a foo|aab
a\foo|aab
a\  foo|aab
1a  x  |aab
a foo\nbar|aab
a foo\tbar|aab
a\tfoo|aab
a\\tfoo|aab
a \ttab|aab
a foo\qbar|aab
a foo\\nbar|aab
a b\x41b|aab
a foo\|aab
$a foo|aab
i foo|aab
2i\|aab
1,2c hey|aab
$!c hey|aab
1!c hey|aab
2c\|aab
/b/,/+/c X|aab
{a foo}|aab
n;d|n
$!n;s/1/X/|n
N;P;D|n
$!N;P;D|n
$!N;s/\n/-/|n
N;N;s/\n/,/g|n
N;N;N;N;N;p|n
:a;N;$!ba;s/\n/ /g|n
:a;s/^\(\s*\)o/\10/;ta|a
s/o/0/;t;s/f/F/|a
s/x/0/;T;s/f/F/|a
:a;s/o/0/;ta|a
G|a
G;h|a
1!G;h;$!d|n
1!G;$!h;$!d|n
x;p;x|a
H;$!d;x;s/\n/,/g|n
1h;2,3H;$!d;x|n
/foo/{h;d};G|a
z|aab
F|aab
=|aab
1,2=|aab
l|ctl
l|long
l 20|long
l 1|aab
l 0|long
l;d|aab
2q|n
2q5|n
2Q|n
2Q7|n
q x|n
q1 |n
1,2q|n
/5/q|n
v|aab
v 4.2|aab
v 9.0|aab
r|aab
r nonl|aab
r nosuch|aab
1r a|aab
$r a|aab
R a|n
R nonl|aab
w|aab
w out|aab
1w /dev/stdout|aab
W out|aab
/foo/w out|a
N;s/^a/X/Mg|aab
N;s/b$/X/Mg|aab
N;N;s/a.b/X/g|aab
N;N;s/b.a/X/gM|aab
N;N;s/b[^x]a/X/gM|aab
N;s/\`a/X/Mg|aab
N;s/b\'/X/Mg|aab
N;s/[\n]/X/|aab
N;s/[^\n]*/X/|aab
/^$/d|conf
/^#/d;/^$/d|conf
s/#.*//;s/[ \t]*$//|conf
/^\[section\]/,/^$/s/port=.*/port=9090/|conf
s/^\(host\)=.*/\1=db/|conf
s/replicas: [0-9]*/replicas: 3/|yaml
/image:/s|nginx:.*|nginx:1.25||yaml
/replicas/a\  paused: true|yaml
/5/{n;d}|n
/3/,/5/{//!d}|n
$=|n
p|nonl
x|nonl
G|nonl
a y|nonl
i y|nonl
=|nonl
r a|nonl
w out|nonl
w /dev/stdout|nonl
$!N|nonl
D|n
N;D|n
2{N;q}|n
2,4{N;N;N;p}|n
/2/,4{n;n;n;p}|n
s/.*/&&/;s/^/>/|a
s/\(.\)\(.\)/\2\1/g|a
s/\(.\)\1/<\1>/g|a
/\(.\)\1/!d|a
"""


def _scripts() -> list[list[str]]:
    """Each script and the file behind its last bar; a script may go on over several lines."""
    found: list[list[str]] = []
    pending: list[str] = []
    for line in _SCRIPTS.strip().split("\n"):
        pending.append(line)
        script, _, name = "\n".join(pending).rpartition("|")
        if name in FILES:
            found.append([script, name])
            pending = []
    return found


ARGUMENTS: list[list[str]] = [
    *_scripts(),
    *(["-n", script, name] for script, name in _scripts() if "p" in script or "=" in script or "l" in script),
    ["-n", "p", "a"],
    ["-n", "$p", "a", "n"],
    ["-s", "-n", "$p", "a", "n"],
    ["-n", "$=", "a", "empty"],
    ["-n", "$=", "empty"],
    ["-n", "F;1p", "a", "n"],
    ["--expression=p", "-n", "a"],
    ["--quiet", "p", "a"],
    ["-n", "-e", "1p", "-e", "$p", "n"],
    ["-e", "a\\", "-e", "foo", "a"],
    ["-e", "i\\", "-e", "  foo", "a"],
    ["-n", "-e", "{", "-e", "p", "-e", "}", "a"],
    ["-e", "p", "-e", "k", "a"],
    ["-e", "p;\nk", "a"],
    ["-e", "s/a/b", "-e", "/", "a"],
    ["-e", "s/a/b\\", "-e", "/", "a"],
    ["-f", "s1", "a"],
    ["-f", "s2", "a"],
    ["-f", "s3", "a"],
    ["-f", "s4", "-e", "foo", "a"],
    ["-f", "s5", "a"],
    ["-f", "nosuch", "a"],
    ["-nf", "s5", "a"],
    ["-i", "p"],
    ["p", "nosuch"],
    ["-n", "p", "nosuch", "a"],
    ["p", "d"],
    ["p", "d", "a"],
    ["-n", "$=", "a", "d"],
    ["-n", "$=", "a", "nosuch"],
    ["-i", "p", "nosuch"],
    ["-i", "p", "d"],
    ["-i", "s/foo/X/", "a"],
    ["-i", "p", "nonl", "a"],
    ["-i.bak", "2q", "a"],
    ["-i", "2q", "n", "a"],
    ["--in-place=~", "s/o/0/g", "a"],
    ["-i*.old", "d", "a"],
    ["-n", "-i", "2p", "a", "n"],
    ["-i", "$a end", "a", "n"],
    ["-i", "w out", "a"],
    ["-i", "1w /dev/stdout", "a"],
    ["-i", "=", "a"],
    ["-ibak/*", "d", "a"],
    ["-s", "1F", "a", "n"],
    ["-E", "s/(o+)/<\\1>/", "a"],
    ["-r", "s/(a|b)+/X/g", "a"],
    ["-E", "s/a|b//2g", "a"],
    ["-E", "s/(a|b)/<\\1>/3", "aab"],
    ["-E", "s/a{2}/X/", "aab"],
    ["-E", "s/*a/X/", "aab"],
    ["-E", "s/a{/X/", "aab"],
    ["-E", "s/(a/X/", "aab"],
    ["-E", "s/a)/X/", "aab"],
    ["-E", "s|a\\|b|X|g", "aab"],
    ["-E", "s+a\\+b+X+", "aab"],
    ["-E", "s/(.)(.)/\\2\\1/", "a"],
    ["-E", "s/^([a-z]+) *= *(.*)$/\\2=\\1/", "conf"],
    ["-E", "s/a\\x2bb/X/", "aab"],
    ["-z", "s/\\n/,/g", "a"],
    ["-z", "s/^./X/", "nul"],
    ["-z", "$!d", "nul"],
    ["-z", "l", "nul"],
    ["-zn", "$=", "nul"],
    ["-u", "2q", "n"],
    ["-l", "20", "-n", "l", "long"],
    ["-l", "1", "-n", "l", "a"],
    ["-l", "x", "-n", "l", "long"],
    ["--line-length=5", "-n", "l", "a"],
    ["--posix", "p", "a"],
    ["--sandbox", "w x", "a"],
    ["--sandbox", "s/a/b/w x", "a"],
    ["--sandbox", "r x", "a"],
    ["--sandbox", "p", "a"],
    ["p", "--", "a"],
    ["--", "p", "a"],
    ["-ne", "2p", "n"],
    ["--exp", "p", "a"],
    ["-n", "/foo/,/baz/{=;p}", "a"],
    ["-n", "/foo/{s//bar/;p}", "a"],
    ["-s", "$d", "a", "n"],
    ["$d", "a", "n"],
    ["-s", "1d", "a", "n"],
    ["-s", "0,/o/d", "a", "n"],
    ["$!N;s/\\n/+/", "nonl", "a"],
    ["-s", "N;N;s/\\n/+/g", "n", "a"],
    ["p", "nonl", "a"],
    ["1!G;h;$!d", "a", "n"],
    ["-n", "$p", "a", "-"],
    ["-f", "-", "a"],
    ["$!{a foo\n}", "a"],
    ["a\\\n  foo", "a"],
    ["a\\\nfoo\\\nbar", "a"],
    ["a foo\\\nbar", "a"],
    ["a   x\\\n  y", "a"],
    ["1{i before\na after\nc change\n}", "a"],
    ["2,4c\\\nchanged", "n"],
    ["2,4{c\\\nchanged\n}", "n"],
    ["s/a/b/\ns/b/c/", "aab"],
    ["s/a\n/b/", "aab"],
    ["s/a/b\n/", "aab"],
    ["s/a/x\\\ny/;s/y/z/", "aab"],
    ["a x\nn", "n"],
    ["a x\nN", "n"],
    ["a x\nD", "n"],
    ["2{a x\nq}", "n"],
    ["r nonl\nR a", "n"],
    ["1,3{/2/q3}", "n"],
    ["R nonl\nR a", "n"],
    ["/re", "a"],
    ["# comment\np # another\n# last", "a"],
    ["s/a/b/ # c", "aab"],
    ["y/a/b/;# c\np", "aab"],
    ["2{;;p;;}", "n"],
    ["1d;;;2d", "n"],
    [";p", "a"],
    ["  ", "a"],
    ["", "a"],
    ["p;}", "a"],
    ["{{p}", "a"],
    ["{p};{p}", "a"],
    ["n;n;s/./X/", "n"],
    ["/x/!s/o/0/", "a"],
    ["1,3s/o/0/;5,$s/b/B/", "a"],
]

STDIN = b"stdin\nlines\n"
