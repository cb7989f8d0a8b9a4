package pods

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"kolla.openstack.org/kolla/lang/configs"
)

// startDirect is the start mode in which a container starts its command directly.
const startDirect = "direct"

// stagingDir is the directory from which the start script of Kolla's images copies files.
const stagingDir = "/var/lib/kolla/config_files"

// copied is one file that the start script copies to its destination.
type copied struct {
	from, to string
	mode     int // 0: the default, 0600
}

// startConfig is the content of config.json, which the start script of Kolla's images reads.
type startConfig struct {
	Command string       `json:"command"`
	Files   []fileToCopy `json:"config_files,omitempty"`
}

type fileToCopy struct {
	Source string `json:"source"`
	Dest   string `json:"dest"`
	Owner  string `json:"owner"`
	Perm   string `json:"perm"`
}

// startFile returns the text of config.json.
func startFile(pod configs.Pod, copies []copied) configs.Text {
	start := startConfig{Command: strings.Join(slices.Concat(pod.Command, pod.Args), " ")}
	for _, c := range copies {
		start.Files = append(start.Files, fileToCopy{Source: c.from, Dest: c.to, Owner: account(pod.User), Perm: fmt.Sprintf("%04o", cmp.Or(c.mode, 0o600))})
	}
	text, err := json.MarshalIndent(start, "", "  ")
	if err != nil {
		panic(err) // strings always encode
	}
	return configs.Plain(string(text) + "\n")
}

// accounts maps the fixed uids of Kolla's images to their names. Kolla never reuses a uid
// (kolla/common/users.py).
var accounts = map[int]string{
	0:     "root",
	42400: "kolla",
	42401: "ansible",
	42402: "aodh",
	42403: "barbican",
	42405: "ceilometer",
	42407: "cinder",
	42408: "cloudkitty",
	42411: "designate",
	42413: "etcd",
	42415: "glance",
	42416: "gnocchi",
	42417: "grafana",
	42418: "heat",
	42420: "horizon",
	42422: "ironic",
	42425: "keystone",
	42427: "qemu",
	42428: "magnum",
	42429: "manila",
	42430: "mistral",
	42434: "mysql",
	42435: "neutron",
	42436: "nova",
	42437: "octavia",
	42439: "rabbitmq",
	42445: "swift",
	42446: "tacker",
	42449: "trove",
	42451: "watcher",
	42454: "haproxy",
	42457: "memcached",
	42460: "redis",
	42471: "blazar",
	42472: "prometheus",
	42473: "libvirt",
	42474: "fluentd",
	42476: "openvswitch",
	42477: "hugetlbfs",
	42482: "placement",
	42483: "cyborg",
	42485: "masakari",
	42486: "hacluster",
	42487: "proxysql",
	42488: "letsencrypt",
	42490: "opensearch",
	42491: "skyline",
	42492: "opensearch-dashboards",
	42494: "valkey",
}

// account returns the name of a uid in Kolla's images, or the uid as text if it has no name.
func account(uid int) string {
	if name, ok := accounts[uid]; ok {
		return name
	}
	return strconv.Itoa(uid)
}
