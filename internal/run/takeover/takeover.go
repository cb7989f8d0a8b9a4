// Package takeover translates a cloud of kolla-ansible into a configuration of kolla.
//
// [Read] reads the inventory, globals.yml, passwords.yml, the directory with overrides and the
// certificates. [Convert] makes the files of the configuration: cloud.hcl, a report about what
// carries over and what does not, and one file for each secret. What kolla knows of kolla-ansible is
// in mapping.yaml. A value of passwords.yml is in no other file than those in [SecretsDir].
package takeover

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/internal/run/takeover/ansible"
	"kolla.openstack.org/kolla/lang/releases"
)

// SecretsDir is the directory of the files with secrets.
const SecretsDir = "secrets"

// File is a file of the configuration.
type File struct {
	Path    string // with slashes, relative to the output directory
	Content []byte
	Secret  bool
}

// Result is a configuration with a report.
type Result struct {
	Files []File
	// Carried, Left and Secrets are the numbers of variables and files that the report has as
	// carried over and as not carried over, and of the files with secrets.
	Carried, Left, Secrets int
	// Blockers say what keeps the cloud from being taken over as it is.
	Blockers []string
}

// Options are what the inputs do not say.
type Options struct {
	Name    string            // of the cloud
	Release string            // if openstack_release is not set
	Nodes   map[string]string // names of Kubernetes nodes, by hosts of the inventory with another name
}

// conversion translates one cloud.
type conversion struct {
	*Input
	Options
	rules   *mapping
	doc     *block // cloud.hcl
	rep     *report
	diags   hcl.Diagnostics
	scope   ansible.Scope
	release string
	config  settings
	secrets map[string][]byte // by the name of the file in SecretsDir
	roles   map[string][]string
	order   []string // of roles
	known   []string // values of passwords
	// ownBalancer says that a load balancer outside of the cluster has the VIP.
	ownBalancer bool
	scopes      map[string]ansible.Scope // of hosts
}

// Convert translates a cloud. Diagnostics name the lines of the inputs.
func Convert(in *Input, options Options) (Result, hcl.Diagnostics) {
	c := &conversion{
		Input: in, Options: options, rules: rules(), doc: &block{}, rep: newReport(), config: settings{},
		secrets: map[string][]byte{}, roles: map[string][]string{}, scopes: map[string]ansible.Scope{}, known: in.secretValues(),
	}
	c.scope = c.cloudScope()
	for _, steps := range [][]func(){
		{c.checkHosts, c.cloud}, // the others need hosts
		{c.exposure, c.services, c.storage, c.hypervisors, c.variables, c.overrides, c.passwords},
	} {
		for _, step := range steps {
			step()
		}
		if c.diags.HasErrors() {
			return Result{}, c.diags
		}
	}
	c.addRoles()
	c.addConfig()
	c.rest()
	return c.result(), c.diags
}

func (c *conversion) error(at hcl.Range, summary, format string, args ...any) {
	c.diags = append(c.diags, ansible.Error(at, summary, format, args...))
}

// value returns the value of a variable, or that of kolla-ansible's default, unless it has a password.
func (c *conversion) value(name string) ansible.Value { return c.plain(c.scope, name) }

// hostValue returns the value that a variable has on a host.
func (c *conversion) hostValue(host, name string) ansible.Value {
	return c.plain(c.hostScope(host), name)
}

func (c *conversion) plain(scope ansible.Scope, name string) ansible.Value {
	v, _ := scope.Value(name)
	switch {
	case v.Unresolved && v.At.Filename != "":
		c.rep.expression(v.Variable)
	case v.Secret:
		c.rep.leave(v.Variable, "It contains a password.", "Write it into the configuration by hand, from a secret.")
		v.Text, v.Unresolved = "", true
	}
	return v
}

// password returns the value of a variable that goes into a file of SecretsDir.
func (c *conversion) password(name string) ansible.Value {
	v, _ := c.scope.Value(name)
	if v.Unresolved && v.At.Filename != "" {
		c.rep.expression(v.Variable)
	}
	return v
}

func (c *conversion) text(name string) string { return c.value(name).Text }

// on reads a switch. If it is an expression, the report says so, and kolla-ansible's default counts.
func (c *conversion) on(name string) bool {
	v := c.value(name)
	if normal, ok := c.rules.defaults()[name]; ok && v.Unresolved {
		v = c.scope.Expand(normal)
	}
	return v.Bool()
}

// isSet reports whether one of the inputs sets a variable.
func (c *conversion) isSet(name string) bool {
	v, ok := c.scope.Find(name)
	return ok && v.At.Filename != ""
}

// carry says in the report where variables that are set went.
func (c *conversion) carry(where string, names ...string) { c.carryIn(c.scope, where, names...) }

func (c *conversion) carryIn(scope ansible.Scope, where string, names ...string) {
	for _, name := range names {
		if v, ok := scope.Find(name); ok {
			c.rep.carry(v, where)
		}
	}
}

// place is a comment about the origin of a value.
func (c *conversion) place(name string) string { return placeIn(c.scope, name) }

func placeIn(scope ansible.Scope, name string) string {
	v, ok := scope.Find(name)
	if !ok || v.At.Filename == "" {
		return "default of kolla-ansible: " + name
	}
	return fmt.Sprintf("%s:%d: %s", v.At.Filename, v.At.Start.Line, name)
}

// cloudScope looks variables up that are the same for the whole cloud.
func (c *conversion) cloudScope() ansible.Scope {
	scope := ansible.Scope{c.Extra}
	for _, group := range []string{"control", "compute", "network"} {
		if hosts := c.Inventory.Members(group); len(hosts) > 0 {
			scope = append(scope, c.Inventory.HostVars(hosts[0]))
		}
	}
	return append(scope, c.rules.defaults())
}

func (c *conversion) hostScope(host string) ansible.Scope {
	if c.scopes[host] == nil {
		c.scopes[host] = ansible.Scope{c.Extra, c.Inventory.HostVars(host), c.rules.defaults()}
	}
	return c.scopes[host]
}

// cloud writes the cloud block.
func (c *conversion) cloud() {
	c.useRole("control", c.Inventory.Members("control"))
	release, at := c.value("openstack_release"), hcl.Range{Filename: c.GlobalsName, Start: hcl.InitialPos, End: hcl.InitialPos}
	if release.At.Filename != "" {
		at = release.At
	}
	c.release = cmp.Or(c.Release, release.Text)
	known := releases.Names()
	switch {
	case c.release == "":
		c.error(at, "The release is not known", "openstack_release is not set, so it is the release of the installed kolla-ansible. Say which: -release=%s.", known[len(known)-1])
		return
	case !slices.Contains(known, c.release):
		c.error(at, "Unknown release", "kolla deploys %s, and this cloud has %q. Upgrade the cloud with kolla-ansible first. If only the name is another one, give the release: -release=%s.",
			words.All(known), c.release, known[len(known)-1])
		return
	}
	b := c.doc.block(fmt.Sprintf("cloud %s", quote(c.Name)))
	from := "-release"
	if c.Release == "" {
		from = c.place("openstack_release")
	}
	b.set("release", quote(c.release), from)
	c.carry("cloud: release", "openstack_release")
	distro := c.text("kolla_base_distro")
	version := c.text("kolla_base_distro_version")
	for _, built := range releases.Named(c.release).Distros { // kolla-ansible has the first as its default, too
		if name, number, _ := strings.Cut(built, "-"); version == "" && name == distro {
			version = number
		}
	}
	if version == "" {
		c.error(c.value("kolla_base_distro").At, "Unknown distribution", "Kolla's images for %s are built on %s. If you build images on another one, set kolla_base_distro_version.", c.release, words.All(releases.Named(c.release).Distros))
		return
	}
	b.set("distro", quote(distro+"-"+version), c.place("kolla_base_distro"))
	c.carry("cloud: distro", "kolla_base_distro", "kolla_base_distro_version")
	switch suffix := c.text("openstack_tag_suffix"); {
	case c.text("openstack_tag") != "":
		b.set("tag", quote(c.text("openstack_tag")), c.place("openstack_tag"))
		c.carry("cloud: tag", "openstack_tag", "openstack_tag_suffix")
	case suffix != "":
		b.set("tag", quote(c.release+"-"+distro+"-"+version+suffix), c.place("openstack_tag_suffix"))
		c.carry("cloud: tag", "openstack_tag_suffix")
	}
	registry := strings.Trim(cmp.Or(c.text("docker_registry"), "docker.io")+"/"+c.text("docker_namespace"), "/")
	b.set("registry", quote(registry), c.place("docker_registry"))
	c.carry("cloud: registry", "docker_registry", "docker_namespace")
	c.pullSecret(b, registry)
	b.set("namespace", quote("openstack"), "")
	c.carry("config blocks, config_dir", "node_custom_config")
	d := b.block("defaults")
	d.set("role", "role.control", "")
	d.set("expose", "exposure.public", "")
}

// variables writes what the rows of the table "carried" say.
func (c *conversion) variables() {
	for _, row := range c.rules.Carried {
		if !c.isSet(row.Variable) && !row.Always {
			continue
		}
		v, _ := c.scope.Value(row.Variable)
		expr, problem := row.expression(v)
		target := strings.Split(row.To, "/")
		switch {
		case v.Unresolved:
			c.rep.leave(v.Variable, notKnown, fmt.Sprintf("Set it by hand (%s).", row.where()))
		case v.Secret:
			c.rep.leave(v.Variable, "It contains a password.", fmt.Sprintf("Set it by hand, from a secret (%s).", row.where()))
		case problem != "":
			c.rep.leave(v.Variable, problem, fmt.Sprintf("Set it by hand (%s).", row.where()))
		case expr == "" || !c.put(target, expr, c.place(row.Variable)):
			c.rep.leave(v.Variable, "Nothing that is declared reads it.", "Nothing.")
		default:
			c.carry(row.where(), row.Variable)
		}
	}
}

// put puts a value at its target; false if there is no such service.
func (c *conversion) put(target []string, expr, comment string) bool {
	switch target[0] {
	case "cloud":
		c.doc.block("cloud "+quote(c.Name)).set(target[1], expr, comment)
	case "service":
		b := c.doc.find("service " + quote(target[1]))
		if b == nil || b.has("external") {
			return false
		}
		b.set(target[2], expr, comment)
	case "defaults":
		c.config.set("", target[1], target[2], target[3], expr, comment)
	case "config":
		if c.doc.find("service "+quote(target[1])) == nil {
			return false
		}
		c.config.set(target[1], target[2], target[3], target[4], expr, comment)
	}
	return true
}

// addConfig writes the config blocks.
func (c *conversion) addConfig() {
	for _, key := range c.config.files() {
		parent := c.doc.find("service " + quote(key[0]))
		if key[0] == "" {
			parent = c.doc.block("cloud " + quote(c.Name)).block("defaults")
		}
		parent.block("config "+quote(key[1])).set("values", c.config.values(key), "")
	}
}

// result collects the files.
func (c *conversion) result() Result {
	files := []File{
		{Path: "cloud.hcl", Content: c.doc.source(header)},
		{Path: ".gitignore", Content: []byte("# Values of secrets. They belong into no repository.\n/" + SecretsDir + "/\n")},
	}
	for name, content := range c.Copies {
		files = append(files, File{Path: name, Content: content})
	}
	for name, content := range c.secrets {
		files = append(files, File{Path: SecretsDir + "/" + name, Content: content, Secret: true})
	}
	files = append(files, File{Path: "report.md", Content: []byte(c.rep.markdown(c))})
	slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	return Result{Files: files, Carried: len(c.rep.carried), Left: len(c.rep.left), Secrets: len(c.secrets), Blockers: c.rep.blockers}
}

const header = "# Written by kolla import kolla-ansible. report.md says what is not here, and what to do next."
