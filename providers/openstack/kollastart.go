package openstack

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	corev1 "k8s.io/client-go/applyconfigurations/core/v1"

	"kolla.openstack.org/kolla/lang/configs"
)

// stagingDir is where Kolla's start script looks for the files to copy.
const stagingDir = "/var/lib/kolla/config_files"

// copied is one file that the start script puts in place.
type copied struct {
	from, to string
	mode     int // 0: what is usual
}

// startFile is config.json as Kolla's start script reads it.
type startFile struct {
	Command string       `json:"command"`
	Files   []fileToCopy `json:"config_files,omitempty"`
}

type fileToCopy struct {
	Source string `json:"source"`
	Dest   string `json:"dest"`
	Owner  string `json:"owner"`
	Perm   string `json:"perm"`
}

// mountStartFile adds config.json, and the variables that the start script wants.
func (t *podTemplate) mountStartFile(copies []copied) {
	start := startFile{Command: strings.Join(append(t.pod.Command, t.pod.Args...), " ")}
	for _, c := range copies {
		start.Files = append(start.Files, fileToCopy{Source: c.from, Dest: c.to, Owner: account(t.pod.User), Perm: fmt.Sprintf("%04o", cmp.Or(c.mode, 0o600))})
	}
	text, err := json.MarshalIndent(start, "", "  ")
	if err != nil {
		panic(err) // strings always encode
	}
	o := t.configMap(t.name+"-config.json", configs.ConfigFile{Name: "config.json", Range: t.decl.Range}, configs.Plain(string(text)+"\n"))
	t.add(o)
	t.dependsOn = append(t.dependsOn, o.Address)
	volume := t.volume(mounted{object: o.Address, key: "config.json"})
	t.mounts = append(t.mounts, corev1.VolumeMount().WithName(volume).
		WithMountPath(stagingDir+"/config.json").WithSubPath("config.json").WithReadOnly(true))
	t.env = append(t.env,
		corev1.EnvVar().WithName("KOLLA_CONFIG_STRATEGY").WithValue("COPY_ALWAYS"),
		corev1.EnvVar().WithName("KOLLA_SERVICE_NAME").WithValue(t.name))
}

// accounts are the fixed users of Kolla's images by uid, which is never given to
// another one (kolla/common/users.py).
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

// account is the name that Kolla's images give to a uid.
func account(uid int) string {
	if name, ok := accounts[uid]; ok {
		return name
	}
	return strconv.Itoa(uid)
}
