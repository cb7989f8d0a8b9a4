// Package recipe says what the test images are made of: which layers there are,
// which packages and files each adds, and how each image starts.
//
// The names, users and paths are those of the Kolla images.
package recipe

import (
	"fmt"
	"slices"
)

const (
	// Suite is the Debian release that the packages come from; it holds OpenStack
	// 2025.1.
	Suite = "trixie"
	// Release is the OpenStack release that the images are.
	Release = "2025.1"
	// Tag is the default tag of the images, in Kolla's form.
	Tag = Release + "-debian-" + Suite
	// Prefix is the default registry and namespace of the images.
	Prefix = "kolla.test/openstack.kolla"
	// BinaryPrefix is the registry and namespace of the images that hold one binary.
	BinaryPrefix = "kolla.test/devcluster"
	// BinaryTag is the tag of the images that hold one binary.
	BinaryTag = "dev"
)

// Layer is one set of changes to a file system.
type Layer struct {
	Name string
	// Parent is the layer below; empty for the lowest one.
	Parent string
	// Packages are Debian's, with what they depend on but not what they recommend.
	Packages []string
}

// Layers are all layers, parents first.
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
				"python3-keystoneclient", "python3-keystonemiddleware", "python3-memcache",
				"python3-oslo.cache", "python3-oslo.db", "python3-oslo.log",
				"python3-oslo.messaging", "python3-oslo.middleware", "python3-oslo.policy",
				"python3-oslo.upgradecheck", "python3-osprofiler", "python3-pymysql",
				"python3-venv", "uwsgi-core", "uwsgi-plugin-python3",
			},
		},
		{Name: "haproxy", Parent: "base", Packages: []string{"haproxy"}},
		{Name: "keystone", Parent: "openstack-base", Packages: []string{"python3-keystone"}},
		{Name: "kolla-toolbox", Parent: "openstack-base", Packages: []string{"python3-openstackclient"}},
		{Name: "mariadb-server", Parent: "base", Packages: []string{"mariadb-server"}},
		{Name: "memcached", Parent: "base", Packages: []string{"memcached"}},
		{Name: "rabbitmq", Parent: "base", Packages: []string{"rabbitmq-server"}},
	}
}

// Chain returns the layer called name and the ones below it, lowest first.
// It panics where there is no such layer.
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
	// Name is Kolla's, without registry, namespace and tag.
	Name string
	// Layer is the topmost layer; empty where the image holds one binary.
	Layer string
	// Binary is the file that the image holds, at its root; empty where it has layers.
	Binary string
	// User is who the entry point runs as; empty means root.
	User       string
	Env        []string
	Entrypoint []string
	Cmd        []string
}

// searched is where programs are looked for.
const searched = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// Images are all images, by name: those of the services first, then those of one binary.
func Images() []Image {
	return []Image{
		service("haproxy", "", "PATH="+searched),
		service("keystone", "", "PATH=/var/lib/kolla/venv/bin:"+searched),
		service("kolla-toolbox", "ansible", "PATH="+searched),
		service("mariadb-server", "mysql", "PATH="+searched),
		service("memcached", "memcached", "PATH="+searched),
		service("rabbitmq", "rabbitmq", "PATH="+searched),
		{Name: "coredns", Binary: "coredns", Entrypoint: []string{"/coredns"}},
		{Name: "pause", Binary: "pause", User: "65535:65535", Entrypoint: []string{"/pause"}},
	}
}

// service is an image in the way of Kolla's, whose topmost layer has its name.
func service(name, user, path string) Image {
	return Image{
		Name:       name,
		Layer:      name,
		User:       user,
		Env:        []string{path, "LANG=C.UTF-8", "KOLLA_BASE_DISTRO=debian"},
		Entrypoint: []string{"dumb-init", "--single-child", "--"},
		Cmd:        []string{"kolla_start"},
	}
}
