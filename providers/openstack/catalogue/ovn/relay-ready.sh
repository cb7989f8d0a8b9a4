# Reports whether a relay has the database. $1 is its port.
query='["_Server",{"op":"select","table":"Database","where":[["name","==","OVN_Southbound"]],"columns":["connected"]}]'
ovsdb-client --timeout=5 query "tcp:127.0.0.1:$1" "$query" | grep -q '"connected":true'
