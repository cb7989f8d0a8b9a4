// Package recipe describes the test images: their layers, the packages and files of each
// layer, and the command of each image.
//
// The names, users and paths are those of the Kolla images.
package recipe

import (
	"fmt"
	"slices"
)

const (
	// Prefix is the default registry and namespace of the images.
	Prefix = "kolla.test/openstack.kolla"
	// BinaryPrefix is the registry and namespace of the images that contain a single binary.
	BinaryPrefix = "kolla.test/devcluster"
	// BinaryTag is the tag of the images that contain a single binary.
	BinaryTag = "dev"
)

// Layer is one set of changes to a file system.
type Layer struct {
	Name string
	// Parent is the layer below; empty for the lowest one.
	Parent string
	// Packages are Debian packages. Their dependencies are installed too, but not the packages that
	// they recommend.
	Packages []string
}

// Layers returns all layers, parents first.
func Layers() []Layer {
	return []Layer{
		{
			Name: "base",
			Packages: []string{
				"ca-certificates", "curl", "dumb-init", "iproute2", "passwd", "procps",
				"python3", "sudo",
			},
		},
		{
			Name:   "openstack-base",
			Parent: "base",
			Packages: []string{
				"dbconfig-common", "python3-barbicanclient", "python3-heatclient", "python3-keystoneclient",
				"python3-keystonemiddleware", "python3-memcache", "python3-openstackclient",
				"python3-osc-placement", "python3-oslo.cache", "python3-oslo.db",
				"python3-oslo.log", "python3-oslo.messaging", "python3-oslo.middleware",
				"python3-oslo.policy", "python3-oslo.upgradecheck", "python3-osprofiler",
				"python3-pastescript", "python3-pymysql", "python3-swiftclient",
				"python3-venv", "uwsgi-core", "uwsgi-plugin-python3",
			},
		},
		{
			Name:   "openstack-shared",
			Parent: "openstack-base",
			Packages: []string{
				"python3-boto3", "python3-glance-store", "python3-mysqldb", "python3-novaclient",
				"python3-oslo.privsep", "python3-oslo.reports", "python3-oslo.rootwrap",
				"python3-oslo.versionedobjects", "python3-psycopg2", "python3-taskflow",
				"qemu-utils",
			},
		},
		// The clients of Ceph's block devices.
		{
			Name:     "rbd",
			Parent:   "openstack-shared",
			Packages: []string{"ceph-common", "python3-rbd"},
		},
		{
			Name:     "barbican",
			Parent:   "openstack-base",
			Packages: []string{"barbican-api", "barbican-keystone-listener", "barbican-worker"},
		},
		{
			Name:   "cinder",
			Parent: "rbd",
			Packages: []string{
				"cinder-api", "cinder-backup", "cinder-scheduler", "cinder-volume", "nfs-common",
			},
		},
		{Name: "glance", Parent: "rbd", Packages: []string{"glance-api"}},
		{
			Name:     "heat",
			Parent:   "openstack-shared",
			Packages: []string{"heat-api", "heat-api-cfn", "heat-engine"},
		},
		{
			Name:   "horizon",
			Parent: "openstack-base",
			Packages: []string{
				"openstack-dashboard", "python3-designate-dashboard", "python3-heat-dashboard",
				"python3-octavia-dashboard",
			},
		},
		{
			Name:   "neutron",
			Parent: "openstack-shared",
			Packages: []string{
				"haproxy", "iptables", "neutron-api", "neutron-ovn-metadata-agent",
				"neutron-rpc-server", "neutron-sriov-agent", "openvswitch-common",
			},
		},
		// nova-compute and the console proxy do not need QEMU, libvirt and node.js, on which their
		// packages depend.
		{
			Name:   "nova",
			Parent: "rbd",
			Packages: []string{
				"nova-api", "nova-conductor", "nova-scheduler", "openssh-client", "python3-libvirt",
			},
		},
		{Name: "nova-ssh", Parent: "nova", Packages: []string{"openssh-server"}},
		{Name: "placement", Parent: "openstack-base", Packages: []string{"placement-api"}},
		// The Ceph cluster outside of the cloud. Its layer is above the one with the clients.
		{Name: "ceph", Parent: "rbd", Packages: []string{"ceph-mgr", "ceph-mon", "ceph-osd"}},
		// The browser that opens Horizon from outside of the cluster.
		{
			Name:     "chromium",
			Parent:   "base",
			Packages: []string{"chromium-driver", "fonts-dejavu-core", "libnss3-tools", "python3-selenium"},
		},
		// The programs that make the disk of the tests' virtual machines, and the disk.
		{
			Name:   "guest",
			Parent: "openstack-shared",
			Packages: []string{
				"busybox-static", "dosfstools", "fdisk", "mtools", "syslinux", "syslinux-common",
				"xz-utils",
			},
		},
		// OpenStack's own tests, with those of Barbican, Heat and Keystone.
		{
			Name:   "tempest",
			Parent: "openstack-base",
			Packages: []string{
				"barbican-tempest-plugin", "heat-tempest-plugin", "keystone-tempest-plugin", "tempest",
			},
		},
		{Name: "haproxy", Parent: "base", Packages: []string{"haproxy"}},
		{Name: "keepalived", Parent: "base", Packages: []string{"keepalived"}},
		{Name: "keystone", Parent: "openstack-base", Packages: []string{"python3-keystone"}},
		{
			Name:   "libvirt",
			Parent: "base",
			Packages: []string{
				"libvirt-clients", "libvirt-daemon-system", "qemu-block-extra", "qemu-system-x86",
			},
		},
		{Name: "mariadb-server", Parent: "base", Packages: []string{"mariadb-backup", "mariadb-server"}},
		{Name: "memcached", Parent: "base", Packages: []string{"memcached"}},
		{
			Name:     "ovn",
			Parent:   "base",
			Packages: []string{"openvswitch-switch", "ovn-central", "ovn-host"},
		},
		{Name: "prometheus", Parent: "base", Packages: []string{"prometheus"}},
		{Name: "prometheus-mysqld-exporter", Parent: "base", Packages: []string{"prometheus-mysqld-exporter"}},
		{Name: "rabbitmq", Parent: "base", Packages: []string{"rabbitmq-server"}},
		{Name: "rsyslog", Parent: "base", Packages: []string{"rsyslog", "rsyslog-elasticsearch"}},
		{Name: "valkey", Parent: "base", Packages: []string{"valkey-sentinel", "valkey-server", "valkey-tools"}},
	}
}

// Chain returns the layer with the name and the layers below it, lowest first. It panics if there
// is no such layer.
func Chain(name string) []Layer {
	var chain []Layer
	all := Layers()
	for name != "" {
		i := slices.IndexFunc(all, func(l Layer) bool { return l.Name == name })
		if i < 0 {
			panic(fmt.Sprintf("no recipe for a layer %q", name))
		}
		chain = append(chain, all[i])
		name = all[i].Parent
	}
	slices.Reverse(chain)
	return chain
}

// Image is one container image.
type Image struct {
	// Name is the name of Kolla's image, without registry, namespace and tag.
	Name string
	// Layer is the topmost layer. It is empty if the image contains a single binary.
	Layer string
	// Binary is the name of the single binary in the root directory. It is empty if the image has
	// layers.
	Binary string
	// File is a file in the root directory of the layer. If it is set, the build writes only this
	// file, beside the images.
	File string
	// User is the user of the entry point. If it is empty, the user is root.
	User       string
	Env        []string
	Entrypoint []string
	Cmd        []string
}

// searched is the default PATH.
const searched = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// Images returns all images, sorted by name: first the images of services, then those of single
// binaries.
func Images() []Image {
	return []Image{
		openstack("barbican-api", "barbican", "barbican"),
		openstack("barbican-keystone-listener", "barbican", "barbican"),
		openstack("barbican-worker", "barbican", "barbican"),
		service("ceph", "ceph", ""),
		service("chromium", "chromium", ""),
		openstack("cinder-api", "cinder", ""),
		openstack("cinder-backup", "cinder", "cinder"),
		openstack("cinder-scheduler", "cinder", "cinder"),
		openstack("cinder-volume", "cinder", "cinder"),
		openstack("glance-api", "glance", "glance"),
		{Name: "guest", Layer: "guest", File: "guest.qcow2"},
		service("haproxy", "haproxy", ""),
		openstack("heat-api", "heat", ""),
		openstack("heat-api-cfn", "heat", ""),
		openstack("heat-engine", "heat", "heat"),
		openstack("horizon", "horizon", ""),
		service("keepalived", "keepalived", ""),
		openstack("keystone", "keystone", ""),
		service("kolla-toolbox", "openstack-base", "ansible"),
		service("mariadb-server", "mariadb-server", "mysql"),
		service("memcached", "memcached", "memcached"),
		openstack("neutron-metadata-agent", "neutron", "neutron"),
		openstack("neutron-server", "neutron", "neutron"),
		openstack("neutron-sriov-agent", "neutron", "neutron"),
		openstack("nova-api", "nova", ""),
		openstack("nova-compute", "nova", "nova"),
		openstack("nova-conductor", "nova", "nova"),
		service("nova-libvirt", "libvirt", ""),
		openstack("nova-novncproxy", "nova", "nova"),
		openstack("nova-scheduler", "nova", "nova"),
		openstack("nova-ssh", "nova-ssh", ""),
		service("openvswitch-db-server", "ovn", ""),
		service("openvswitch-vswitchd", "ovn", ""),
		service("ovn-controller", "ovn", ""),
		service("ovn-nb-db-server", "ovn", ""),
		service("ovn-northd", "ovn", ""),
		service("ovn-sb-db-relay", "ovn", ""),
		service("ovn-sb-db-server", "ovn", ""),
		openstack("placement-api", "placement", ""),
		service("prometheus-mysqld-exporter", "prometheus-mysqld-exporter", "prometheus"),
		service("prometheus-server", "prometheus", "prometheus"),
		service("rabbitmq", "rabbitmq", "rabbitmq"),
		service("rsyslog", "rsyslog", ""),
		service("valkey-sentinel", "valkey", "valkey"),
		service("valkey-server", "valkey", "valkey"),
		service("tempest", "tempest", ""),
		{Name: "coredns", Binary: "coredns", Entrypoint: []string{"/coredns"}},
		{Name: "pause", Binary: "pause", User: "65535:65535", Entrypoint: []string{"/pause"}},
	}
}

// openstack returns the image of an OpenStack service. Kolla's virtual environment comes first in
// its PATH.
func openstack(name, layer, user string) Image {
	image := service(name, layer, user)
	image.Env[0] = "PATH=/var/lib/kolla/venv/bin:" + searched
	return image
}

// service returns an image with the same settings as Kolla's.
func service(name, layer, user string) Image {
	return Image{
		Name:       name,
		Layer:      layer,
		User:       user,
		Env:        []string{"PATH=" + searched, "LANG=C.UTF-8", "KOLLA_BASE_DISTRO=debian"},
		Entrypoint: []string{"dumb-init", "--single-child", "--"},
		Cmd:        []string{"kolla_start"},
	}
}
