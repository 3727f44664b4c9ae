"""The files that awk's cases read: what operators have at hand."""

from __future__ import annotations

PODS = """\
NAME                                        READY   STATUS             RESTARTS   AGE
adservice-6f8b5d9c7d-x2lqk                  1/1     Running            0          12d
cartservice-5d4c8b7f6c-9zkfp                0/1     CrashLoopBackOff   17         3d4h
checkoutservice-7b6c9d8f5b-mm2tt            1/1     Running            2          12d
emailservice-66d5b8c9f4-hq7wz               1/1     Running            0          12d
frontend-external-79c8d6b5f4-test1          1/1     Running            1          45m
frontend-7c5f8d6b9c-4vxjr                   1/1     Running            5          12d
loadgenerator-58d9c7b6f5-kk9ll              0/1     Pending            0          2m
paymentservice-84f6b9d7c8-plz2m             0/1     ImagePullBackOff   0          9m
redis-cart-6c8d7f9b5d-w8s2q                 1/1     Running            11         40d
shippingservice-web-6d7c8b9f54-aa11b        1/2     Error              3          1h
"""

ACCESS = """\
10.0.3.7 - - [14/Nov/2026:10:15:32 +0000] "GET /api/catalog/42 HTTP/1.1" 200 5123 "-" "curl/8" 0.031
10.0.3.8 - - [14/Nov/2026:10:15:32 +0000] "POST /api/cart HTTP/1.1" 500 312 "-" "Go-http" 1.204
10.0.3.7 - - [14/Nov/2026:10:15:33 +0000] "GET /healthz HTTP/1.1" 200 2 "-" "kube-probe" 0.001
10.0.4.1 - - [14/Nov/2026:10:16:01 +0000] "GET /api/catalog/7?x=1 HTTP/1.1" 404 87 "-" "Mozilla" 0.012
10.0.3.8 - - [14/Nov/2026:10:16:02 +0000] "GET / HTTP/1.1" 200 10240 "-" "Mozilla" 0.220
10.0.3.9 - - [14/Nov/2026:10:17:45 +0000] "POST /api/checkout HTTP/2" 503 0 "-" "Go-http" 5.000
10.0.3.7 - - [14/Nov/2026:10:17:46 +0000] "DELETE /api/cart/9 HTTP/1.1" 204 0 "-" "Go-http" 0.090
"""

YAML = """\
apiVersion: v1
kind: Service
metadata:
  name: cart
spec:
  ports:
  - port: 7070
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: cart
spec:
  template:
    spec:
      containers:
      - name: server
        image: registry.local/cart:v1.2
"""

PARAGRAPHS = """\


Name: node-1
Status: Ready
Pods: 12

Name: node-2
Status: NotReady


Name: node-3
Status: Ready
"""

APP_LOG = """\
2026-11-14 10:00:01 INFO starting server on port 8080
2026-11-14 10:00:02 WARN cache is cold, the first requests are slow
2026-11-14 10:00:05 ERROR cannot connect to redis: connection refused
2026-11-14 10:00:06 info retrying the connection
2026-11-14 10:00:11 ERROR cannot connect to redis: i/o timeout
2026-11-14 10:00:12 INFO connected to redis
"""

KEYS_AND_VALUES = """\
ts=1 level=info service=cart latency=12ms
ts=2 level=error service=checkout latency=1503ms
ts=3 level=info service=cart latency=140ms
ts=4 level=warn service=email latency=7ms
ts=5 level=info service=frontend latency=33ms
"""

PASSWD = """\
root:x:0:0:root:/root:/bin/bash
daemon:x:1:1:daemon:/usr/sbin:/usr/sbin/nologin
www-data:x:33:33:www-data:/var/www:/usr/sbin/nologin
alice:x:1000:1000:Alice A.,,,:/home/alice:/bin/bash
bob:x:1001:1000::/home/bob:/bin/sh
"""

DF = """\
Filesystem     1K-blocks      Used Available Use% Mounted on
overlay         61255492  49004393   9106896  85% /
tmpfs              65536         0     65536   0% /dev
/dev/sda1       20511312  19999999    511313  98% /var/lib/data
"""

NUMBERS = """\
a 12 7 3.5
b 99 100 -2
c 45 45 0.001
d 3 8 1e3
b 7 2 017
"""

FILES = {
    "abc": "a b c\n1 2 3\n",
    "access.log": ACCESS,
    "app.log": APP_LOG,
    "crlf.txt": "one two\r\nthree four\r\n",
    "data.csv": "name,zone,cpu\nweb-1,eu,0.25\nweb-2,us,0.75\ndb-1,eu,1.5\ndb-2,eu,0.5\n",
    "df.txt": DF,
    "empty.txt": "",
    "kv.log": KEYS_AND_VALUES,
    "lib.awk": "function twice(x) {\n  return x * 2\n}\n",
    "main.awk": "{ s += twice($2) }\nEND { print s }\n",
    "multi.yaml": YAML,
    "nonl.txt": "first\nlast without newline",
    "numbers.txt": NUMBERS,
    "nums": "1e3 1000 0x10 +5 -5 .5 5. 1e 0 00 -0 inf nan +inf +nan 1_0 1.0 ١\n",
    "owners.txt": "alice cart blue\nbob checkout red\ncarol email green\n",
    "owners2.txt": "bob db\ndave cache\nalice web\n",
    "p1.awk": "BEGIN{\nprint 1\n",
    "p2.awk": "BEGIN{\nprint 1",
    "p3.awk": "BEGIN{\nprint 1}",
    "p4.awk": "BEGIN{\nprint 1 1+}\n",
    "paragraphs.txt": PARAGRAPHS,
    "passwd": PASSWD,
    "pipes.txt": "| name | state |\n| cart | up    |\n| db   |  down |\n",
    "pods.txt": PODS,
    "prog.awk": '# sums\nBEGIN { OFS = "=" }\n{ s[$1] += $2 }\nEND {\n  print "b", s["b"]\n  print NR, $0\n}\n',
    "tabs.txt": "k 1\tv 1\tz\nk2\t\tz2\n",
}
