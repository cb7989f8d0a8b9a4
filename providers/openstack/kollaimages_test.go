package openstack_test

import (
	"bytes"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/releases"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/openstack"
)

// kollaImages has facts about Kolla's images.
type kollaImages struct {
	Python   string                `json:"python"`
	Programs []string              `json:"programs"`
	Venv     []string              `json:"venv"`
	Etc      []string              `json:"etc"`
	Options  map[string]string     `json:"options"` // by program
	Plugins  map[string]string     `json:"plugins"` // by distribution, without its version
	Images   map[string]kollaImage `json:"images"`

	used    map[string]bool   // names of images
	modules map[string]bool   // the WSGI modules that are used
	scripts map[string]string // scripts for a shell in commands, with a container that has them
	started map[string]bool   // images with the programs that are started in them
}

type kollaImage struct {
	UID      int64    `json:"uid"`
	Venv     bool     `json:"venv"`
	Programs []string `json:"programs"`
	WSGI     []string `json:"wsgi"`
	// Only has the releases of programs that not all releases have.
	Only map[string][]string `json:"only"`
	// Etc has the files and directories in /etc that its programs need.
	Etc []string `json:"etc"`
	// Own has files in /etc that must not be those of the image.
	Own []string `json:"own"`
}

// replaced matches a program that a script of a shell becomes.
var replaced = regexp.MustCompile(`\bexec ([a-z][a-z0-9_.-]*)`)

// programs returns the programs that a command starts. A shell starts the command in its arguments
// too, and what its script becomes.
func programs(command []string) []string {
	out := []string{path.Base(command[0])}
	if out[0] != "sh" || len(command) < 3 {
		return out
	}
	for _, found := range replaced.FindAllStringSubmatch(command[2], -1) {
		out = append(out, found[1])
	}
	if strings.Contains(command[2], `exec "$@"`) && len(command) > 4 {
		out = append(out, programs(command[4:])...)
	}
	return out
}

// started returns the commands that a container runs, one for each purpose.
func started(c *corev1.Container) map[string][]string {
	out := map[string][]string{}
	if len(c.Command) > 0 {
		out["command"] = c.Command
		if end := slices.Index(c.Command, "--"); c.Command[0] == "dumb-init" {
			out["reaper"], out["command"] = c.Command[:end], c.Command[end+1:]
		}
	}
	for name, probe := range map[string]*corev1.Probe{"liveness": c.LivenessProbe, "readiness": c.ReadinessProbe, "startup": c.StartupProbe} {
		if probe != nil && probe.Exec != nil {
			out[name] = probe.Exec.Command
		}
	}
	if c.Lifecycle != nil && c.Lifecycle.PreStop != nil && c.Lifecycle.PreStop.Exec != nil {
		out["drain"] = c.Lifecycle.PreStop.Exec.Command
	}
	return out
}

// wsgiModule matches the WSGI module in a configuration of uWSGI.
var wsgiModule = regexp.MustCompile(`(?m)^module *= *([^:\s]+)`)

// startsAsRoot has the images that need root at first, although their daemons have another user, and that
// of the collector, which reads what the runtime writes for root.
var startsAsRoot = map[string]bool{"horizon": true, "haproxy": true, "fluentd": true, "opensearch-dashboards": true}

// TestKollaImages holds the catalogue against what Kolla's images have, in every release and
// distribution. Each image exists, and has the user and the programs that its containers start. An image
// has each WSGI module, and the files in /etc that its containers use. uWSGI finds its plug-in for Python.
// Scripts ask for options that not all images have.
func TestKollaImages(t *testing.T) {
	source, err := os.ReadFile("testdata/kolla-images.yaml")
	if err != nil {
		t.Fatal(err)
	}
	facts := kollaImages{used: map[string]bool{}, modules: map[string]bool{}, scripts: map[string]string{}, started: map[string]bool{}}
	if err := yaml.UnmarshalStrict(source, &facts); err != nil {
		t.Fatal(err)
	}
	checked, paths, own := 0, 0, 0
	for _, release := range releases.Names() {
		for _, distro := range releases.Named(release).Distros {
			for _, dir := range []string{"testdata/base", "testdata/galera", "testdata/images", "testdata/logging", "testdata/metrics", "testdata/stacks", "testdata/servers", "testdata/state"} {
				config := inRelease(t, dir, release, "distro="+distro)
				if dir == "testdata/base" { // with HAProxy and keepalived in the cluster
					x := &config.Exposures[0]
					x.Mode, x.Keepalived = configs.ModeManaged, configs.Keepalived{Interface: "eth0", RouterID: 51}
					x.TLS = &configs.TLS{Source: configs.TLSGenerated, Secret: "exposure-public"}
				}
				objects := render(t, config, openstack.Offline())
				if dir == "testdata/metrics" {
					objects = measured(objects)
				}
				seen := facts.checkCloud(t, release, distro, objects)
				checked, paths, own = checked+seen.commands, paths+seen.paths, own+seen.own
			}
		}
	}
	for name := range facts.Images {
		if !facts.used[name] {
			t.Errorf("no service uses image %s: is the fact outdated?", name)
		}
	}
	if len(facts.modules) < 8 {
		t.Errorf("only these WSGI modules are used: %v", facts.modules)
	}
	asked := map[string]bool{} // programs
	for script, of := range facts.scripts {
		parse(t, of, []byte(script), shells)
		for program, option := range facts.Options {
			if !strings.Contains(script, program) || !strings.Contains(script, option+"=") {
				continue
			}
			asked[program] = true
			if !strings.Contains(script, program+" --help | grep -q -e "+option+";") {
				t.Errorf("%s: the script does not ask whether %s knows %s; not all images have it", of, program, option)
			}
		}
	}
	if len(asked) != len(facts.Options) || paths < 200 || own == 0 {
		t.Errorf("checked the options of %v, %d paths in /etc, %d files that are not the image's", asked, paths, own)
	}
	for name := range facts.started {
		image, program, _ := strings.Cut(name, " ")
		delete(facts.Images[image].Only, program)
	}
	for name, image := range facts.Images {
		for program := range image.Only {
			t.Errorf("no release starts %s in image %s: is the fact outdated?", program, name)
		}
	}
	t.Logf("checked %d commands and %d scripts of %d images", checked, len(facts.scripts), len(facts.used))
}

// counts says how much of a cloud was checked.
type counts struct{ commands, paths, own int }

// checkCloud checks all objects of a cloud.
func (k *kollaImages) checkCloud(t *testing.T, release, distro string, objects []providers.Object) (seen counts) {
	t.Helper()
	files := map[string]map[string]string{} // of ConfigMaps, by their names
	for _, o := range objects {
		if o.Manifest.GetKind() == "ConfigMap" {
			files[o.Manifest.GetName()], _, _ = unstructured.NestedStringMap(o.Manifest.Object, "data")
		}
	}
	for _, o := range objects {
		k.checkModules(t, release, distro, o)
		pod, _, _ := podOf(t, o)
		for _, c := range slices.Concat(pod.InitContainers, pod.Containers) {
			name := providers.SplitImage(c.Image).Name()
			k.used[name] = true
			seen.commands += k.checkContainer(t, name, release, o.Address, &pod, &c)
			seen.paths += k.checkPaths(t, name, release+": "+o.Address.String()+" "+c.Name, &c, configured(&pod, &c, files))
		}
		for _, c := range pod.Containers {
			for _, file := range k.Images[providers.SplitImage(c.Image).Name()].Own {
				seen.own++
				if !mounts(&c, file) {
					t.Errorf("%s: container %s of %s has the %s of its image, which all nodes share", release, c.Name, o.Address, file)
				}
			}
		}
	}
	return seen
}

// checkContainer checks the image, the user and the commands of a container. It returns the number
// of commands.
func (k *kollaImages) checkContainer(t *testing.T, name, release string, of addrs.Object, pod *corev1.PodSpec, c *corev1.Container) int {
	t.Helper()
	image, ok := k.Images[name]
	if !ok {
		t.Errorf("%s: %s runs %s, which Kolla does not publish", release, of, c.Image)
		return 0
	}
	var uid int64
	if pod.SecurityContext != nil {
		uid = ptr.Deref(pod.SecurityContext.RunAsUser, 0)
	}
	if c.SecurityContext != nil {
		uid = ptr.Deref(c.SecurityContext.RunAsUser, uid)
	}
	if uid != image.UID && !(uid == 0 && startsAsRoot[name]) {
		t.Errorf("%s: container %s of %s runs as %d; the user of image %s is %d", release, c.Name, of, uid, name, image.UID)
	}
	commands := started(c)
	for purpose, command := range commands {
		if path.Base(command[0]) == "sh" && len(command) > 2 {
			k.scripts[command[2]] = of.String() + " " + c.Name
		}
		for _, program := range programs(command) {
			k.started[name+" "+program] = true
			if !slices.Contains(k.Programs, program) && !(image.Venv && slices.Contains(k.Venv, program)) &&
				!slices.Contains(image.Programs, program) && !slices.Contains(image.Only[program], release) {
				t.Errorf("%s: container %s of %s: the %s starts %q; image %s has no such program", release, c.Name, of, purpose, program, name)
			}
		}
	}
	return len(commands)
}

// copied matches a file that Kolla's start puts into its place.
var copied = regexp.MustCompile(`"dest": ?"([^"]+)"`)

// etcPath matches a path in /etc.
var etcPath = regexp.MustCompile(`/etc/[a-z][\w./-]*\w`)

// configured returns the texts that say where a container finds its files: its commands without the
// scripts of shells, its environment, and its configuration files. files has the data of ConfigMaps.
func configured(pod *corev1.PodSpec, c *corev1.Container, files map[string]map[string]string) (texts []string) {
	for _, command := range started(c) {
		if path.Base(command[0]) == "sh" {
			command = command[min(len(command), 3):]
		}
		texts = append(texts, command...)
	}
	for _, e := range c.Env {
		texts = append(texts, e.Value)
	}
	for _, m := range c.VolumeMounts {
		i := slices.IndexFunc(pod.Volumes, func(v corev1.Volume) bool { return v.Name == m.Name })
		if i < 0 || pod.Volumes[i].ConfigMap == nil {
			continue
		}
		for name, text := range files[pod.Volumes[i].ConfigMap.Name] {
			if m.SubPath == "" || m.SubPath == name {
				texts = append(texts, text)
			}
		}
	}
	return texts
}

// mounts reports whether a volume of a container has a file, or a directory with the file.
func mounts(c *corev1.Container, file string) bool {
	return slices.ContainsFunc(c.VolumeMounts, func(m corev1.VolumeMount) bool { return isBelow(file, m.MountPath) })
}

// isBelow reports whether a path is a directory, or below it.
func isBelow(name, dir string) bool { return name == dir || strings.HasPrefix(name, dir+"/") }

// checkPaths checks that the paths in /etc that a container uses are there, in the image or in a
// volume, and that no volume hides files of the image. It returns the number of paths.
func (k *kollaImages) checkPaths(t *testing.T, name, where string, c *corev1.Container, texts []string) int {
	t.Helper()
	etc := slices.Concat(k.Etc, k.Images[name].Etc)
	for _, m := range c.VolumeMounts {
		for _, file := range etc {
			if file != m.MountPath && isBelow(file, m.MountPath) {
				t.Errorf("%s: the volume at %s hides %s of image %s", where, m.MountPath, file, name)
			}
		}
	}
	for _, text := range texts {
		for _, found := range copied.FindAllStringSubmatch(text, -1) {
			etc = append(etc, found[1])
		}
	}
	count := 0
	for _, text := range texts {
		for _, found := range etcPath.FindAllString(text, -1) {
			count++
			if !mounts(c, found) && !slices.ContainsFunc(c.VolumeMounts, func(m corev1.VolumeMount) bool { return isBelow(m.MountPath, found) }) &&
				!slices.ContainsFunc(etc, func(file string) bool { return isBelow(found, file) || isBelow(file, found) }) {
				t.Errorf("%s uses %s, which neither image %s nor a volume has", where, found, name)
			}
		}
	}
	return count
}

// pluginsDir matches the directory of plug-ins in a configuration of uWSGI.
var pluginsDir = regexp.MustCompile(`(?m)^plugins-dir *= *(.+)$`)

// checkModules checks the WSGI modules in an object with configuration files, and where uWSGI looks for
// its plug-in for Python.
func (k *kollaImages) checkModules(t *testing.T, release, distro string, o providers.Object) {
	t.Helper()
	data, _, _ := unstructured.NestedStringMap(o.Manifest.Object, "data")
	family, _, _ := strings.Cut(distro, "-")
	for _, text := range data {
		if found := pluginsDir.FindStringSubmatch(text); found != nil && found[1] != k.Plugins[family] {
			t.Errorf("%s-%s: %s has plug-ins of uWSGI in %s; the images have them in %q", release, distro, o.Address, found[1], k.Plugins[family])
		}
		for _, found := range wsgiModule.FindAllStringSubmatch(text, -1) {
			k.modules[found[1]] = true
			if !slices.ContainsFunc(slices.Collect(maps.Values(k.Images)), func(i kollaImage) bool { return slices.Contains(i.WSGI, found[1]) }) {
				t.Errorf("%s: %s has the WSGI module %s, which no image has", release, o.Address, found[1])
			}
		}
	}
}

// shells parse a script as the shells of Kolla's images do.
var shells = [][]string{{"dash", "-n"}, {"bash", "--posix", "-n"}}

// parse fails the test if a parser refuses a script.
func parse(t *testing.T, name string, source []byte, parsers [][]string) {
	t.Helper()
	for _, parser := range parsers {
		c := exec.CommandContext(t.Context(), parser[0], parser[1:]...)
		c.Stdin = bytes.NewReader(source)
		if out, err := c.CombinedOutput(); err != nil {
			t.Errorf("%s: %s: %v\n%s", name, parser[0], err, out)
		}
	}
}

// TestScriptsOfTheCatalogue parses the scripts of the catalogue with the shells of Kolla's images, and
// with the syntax of their oldest Python: that of Rocky Linux 9.
func TestScriptsOfTheCatalogue(t *testing.T) {
	parsers := map[string][][]string{
		".sh": shells,
		".py": {{"python3", "-c", "import ast, sys; ast.parse(sys.stdin.read(), feature_version=(3, 9))"}},
	}
	count := 0
	err := fs.WalkDir(openstack.Catalogue(), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || parsers[path.Ext(name)] == nil {
			return err
		}
		source, err := fs.ReadFile(openstack.Catalogue(), name)
		parse(t, name, source, parsers[path.Ext(name)])
		count++
		return err
	})
	if err != nil || count < 25 {
		t.Errorf("%d scripts were parsed: %v", count, err)
	}
}

// TestBuilds checks which nodes have the same build of an image.
func TestBuilds(t *testing.T) {
	on := func(name string, digests ...string) openstack.Node {
		return openstack.Node{Name: name, Images: func() map[string][]string {
			return map[string][]string{"q.io:5000/nova:1": digests, "q.io:5000/nova@sha256:locked": digests}
		}}
	}
	nodes := []openstack.Node{on("a", "sha256:2"), on("b", "sha256:1", "sha256:list"), on("c", "sha256:list"), on("d"), {Name: "e"}}
	want := []openstack.Build{{Digest: "sha256:1", Nodes: []string{"b", "c"}}, {Digest: "sha256:2", Nodes: []string{"a"}}}
	for _, reference := range []string{"q.io:5000/nova:1", "q.io:5000/nova:1@sha256:locked", "q.io:5000/nova@sha256:locked"} {
		if diff := cmp.Diff(want, openstack.Image{Reference: reference}.Builds(nodes)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", reference, diff)
		}
	}
	if got := (openstack.Image{Reference: "q.io:5000/nova:2"}).Builds(nodes); got != nil {
		t.Errorf("another tag: got %v", got)
	}
}
