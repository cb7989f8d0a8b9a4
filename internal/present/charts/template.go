package charts

import (
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/providers"
)

// built is a chart with its values.
type built struct {
	*chart
	cloud     *cloud
	values    *value
	templates map[string]string // by path
	helpers   []string          // named templates
	uses      map[string]bool   // names of the Secrets that the chart mounts or copies values from
	// versions maps the names of ConfigMaps, Secrets and Jobs that depend on values to the
	// expressions of their names. Other names are as kolla rendered them.
	versions map[string]string
}

// build makes the templates of a chart.
func (c *cloud) build(chart *chart) *built {
	b := &built{
		chart: chart, cloud: c, values: newValues(), templates: map[string]string{}, uses: map[string]bool{}, versions: map[string]string{},
	}
	if chart.service == nil {
		b.values.comment = "Values of the cloud. Those of a service are below its name, as in charts/NAME/values.yaml."
	} else {
		b.values.comment = "Values of " + chart.name + ". Everything else is as kolla rendered it."
	}
	for _, o := range chart.objects {
		b.name(o)
	}
	for _, o := range chart.objects {
		b.templates[fileOf(o)] = b.object(o)
	}
	b.global()
	return b
}

// name decides what the name of an object with a hash becomes. Files are ConfigMaps and Secrets,
// and come before the Jobs that mount them.
func (b *built) name(o *providers.Object) {
	if o.Family.Name == "" {
		return
	}
	b.versions[o.Address.Kind+"/"+o.Address.Name] = fmt.Sprintf("include %q .", b.helper(o)+".name")
}

// object returns the template of an object.
func (b *built) object(o *providers.Object) string {
	t := &template{built: b}
	manifest := runtime.DeepCopyJSON(o.Manifest.Object)
	t.metadata(manifest)
	var front, back string
	kind := o.Address.Kind
	if addrs.TypeOf(o.Address.Block) == "manifest" && kind != "Secret" {
		kind = "" // the objects of manifests have no values of their own
	}
	switch kind {
	case "ConfigMap":
		t.configMap(o, manifest)
	case "Secret":
		front, back = t.secret(o, manifest)
	case "Deployment", "StatefulSet", "DaemonSet", "Job":
		t.workload(o, manifest)
	case "PersistentVolumeClaim":
		t.claim(manifest["spec"].(map[string]any), "volumes", o.Address.Name)
	}
	manifest = t.walk(manifest, "", "").(map[string]any)
	if version, ok := b.versions[o.Address.Kind+"/"+o.Address.Name]; ok {
		manifest["metadata"].(map[string]any)["name"] = t.action(version)
	}
	if o.Address.Kind == "Job" && o.Family.Name != "" {
		helper := b.helper(o)
		b.define(helper, t.yaml(manifest["spec"]))
		b.defineName(o, fmt.Sprintf("include %q .", helper), false)
		manifest["spec"] = t.item(fmt.Sprintf("include %q .", helper))
	}
	return front + t.yaml(manifest) + back
}

// helper returns the name of the named template with the content of an object.
func (b *built) helper(o *providers.Object) string {
	return fmt.Sprintf("%s.%s.%s", b.chart.name, strings.ToLower(o.Address.Kind), o.Family.Name)
}

// define adds a named template.
func (b *built) define(name, content string) {
	b.helpers = append(b.helpers, fmt.Sprintf("{{- define %q -}}\n%s\n{{- end }}\n", name, strings.TrimSuffix(content, "\n")))
}

// defineExactly adds a named template whose content may begin or end with white space.
func (b *built) defineExactly(name, content string) {
	const kept = `{{ "" }}` // Helm does not trim white space beside it
	if strings.TrimLeftFunc(content, unicode.IsSpace) != content {
		content = kept + content
	}
	if strings.TrimRightFunc(content, unicode.IsSpace) != content {
		content += kept
	}
	b.define(name, content)
}

// defineName adds the named template with the name of an object: it ends with a hash of the content.
func (b *built) defineName(o *providers.Object, content string, secret bool) {
	version := "kolla.version"
	if secret {
		version = "kolla.secretVersion"
	}
	b.define(b.helper(o)+".name", fmt.Sprintf("{{ include %q (list . %q (%s)) }}", version, o.Family.Name, content))
}

// template replaces fields of a manifest by actions. Until the manifest has become text, tokens
// stand for the actions.
type template struct {
	*built
	actions []string
}

// The tokens. A field is a line of its own, as is an item of a list.
const (
	inlineToken = "KollaAction"
	fieldToken  = "KollaField"
)

var (
	inlines = regexp.MustCompile(inlineToken + `(\d+)Z`)
	fields  = regexp.MustCompile(`(?m)^( *)(- |[^\s:]+: )` + fieldToken + `(\d+)Z$`)
)

// action returns a token for the result of an expression within a string.
func (t *template) action(expression string) string {
	t.actions = append(t.actions, "{{ "+expression+" }}")
	return fmt.Sprintf("%s%dZ", inlineToken, len(t.actions)-1)
}

// line returns a token for lines of a template. In them, KEY is the key with its colon, and the
// numbers INDENT and DEEPER are the indentation of the key and of its value.
func (t *template) line(lines ...string) string {
	t.actions = append(t.actions, strings.Join(lines, "\n"))
	return fmt.Sprintf("%s%dZ", fieldToken, len(t.actions)-1)
}

// optional is a token for a field with a map or a list, which is left out if it is empty.
func (t *template) optional(expression string) string {
	return t.line("{{- with "+expression+" }}", "KEY", "  {{- toYaml . | nindent DEEPER }}", "{{- end }}")
}

// item is a token for a field or an item of a list whose text an expression returns.
func (t *template) item(expression string) string {
	return t.line("KEY", "  {{- "+expression+" | nindent DEEPER }}")
}

// yaml returns the text of a template.
func (t *template) yaml(manifest any) string {
	raw, err := yaml.Marshal(manifest)
	if err != nil {
		panic(fmt.Sprintf("a manifest of %s cannot be written: %v", t.chart.name, err))
	}
	return t.expand(escape(string(raw)))
}

// escape makes a text pass through Helm's template engine unchanged.
func escape(text string) string { return strings.ReplaceAll(text, "{{", `{{ "{{" }}`) }

// expand replaces the tokens of a text.
func (t *template) expand(text string) string {
	text = fields.ReplaceAllStringFunc(text, func(found string) string {
		parts := fields.FindStringSubmatch(found)
		number, _ := strconv.Atoi(parts[3])
		var out []string
		for line := range strings.SplitSeq(t.actions[number], "\n") {
			switch key := strings.TrimSpace(parts[2]); {
			case key != "-":
				line = strings.ReplaceAll(line, "KEY", key)
			case line == "KEY":
				continue
			default:
				line = strings.TrimPrefix(line, "  ")
			}
			deeper := len(parts[1]) + 2
			if strings.HasPrefix(parts[2], "- ") {
				deeper = len(parts[1])
			}
			line = strings.ReplaceAll(line, "INDENT", strconv.Itoa(len(parts[1])))
			out = append(out, parts[1]+strings.ReplaceAll(line, "DEEPER", strconv.Itoa(deeper)))
		}
		return strings.Join(out, "\n")
	})
	return inlines.ReplaceAllStringFunc(text, func(found string) string {
		number, _ := strconv.Atoi(inlines.FindStringSubmatch(found)[1])
		return t.actions[number]
	})
}

// metadata removes kolla's annotations: they say what kolla knows of the objects that it owns.
func (t *template) metadata(manifest map[string]any) {
	metadata := manifest["metadata"].(map[string]any)
	annotations, _ := metadata["annotations"].(map[string]any)
	maps.DeleteFunc(annotations, func(key string, _ any) bool { return isBookkeeping(key) })
	if len(annotations) == 0 {
		delete(metadata, "annotations")
	}
}

// isBookkeeping reports whether kolla writes the annotation for itself.
func isBookkeeping(annotation string) bool { return strings.HasPrefix(annotation, domain) }

const (
	domain    = "kolla.openstack.org/"
	managedBy = "app.kubernetes.io/managed-by"
)

// walk replaces texts in a part of a manifest: public names, names of ConfigMaps and Secrets, and
// revisions of Secrets. key and parent are the names of the part and of the map around it.
func (t *template) walk(part any, key, parent string) any {
	switch part := part.(type) {
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(part)) {
			part[k] = t.walk(part[k], k, key)
		}
	case []any:
		for i := range part {
			part[i] = t.walk(part[i], key, parent)
		}
	case string:
		return t.string(part, key, parent)
	}
	return part
}

func (t *template) string(text, key, parent string) string {
	if strings.HasPrefix(text, inlineToken) || strings.HasPrefix(text, fieldToken) {
		return text
	}
	switch {
	case key == managedBy && text == providers.FieldManager:
		return t.action(".Release.Service")
	case parent == "annotations" && strings.HasPrefix(key, providers.AnnotationSecret):
		if name, ok := t.cloud.revisions[text]; ok {
			t.uses[name] = true
			return t.action(fmt.Sprintf("include \"kolla.revision\" (list . %q) | quote", name))
		}
	case key == "name" && slices.Contains([]string{"configMap", "configMapRef", "configMapKeyRef"}, parent):
		if version, ok := t.versions["ConfigMap/"+text]; ok {
			return t.action(version)
		}
	case key == "secretName", key == "name" && slices.Contains([]string{"secret", "secretRef", "secretKeyRef"}, parent):
		if version, ok := t.versions["Secret/"+text]; ok {
			return t.action(version)
		}
		if _, ok := t.cloud.recipes[text]; ok {
			t.uses[text] = true
			return t.action(fmt.Sprintf("include \"kolla.secretName\" (list . %q)", text))
		}
	}
	return t.outside(text)
}

// outside replaces the public addresses and names in a text.
func (t *template) outside(text string) string {
	for _, each := range t.cloud.public {
		text = each.replace(text, func() string { return t.action(each.expression()) })
	}
	return text
}

// workload replaces the settings of a workload or a Job.
func (t *template) workload(o *providers.Object, manifest map[string]any) {
	spec := manifest["spec"].(map[string]any)
	group, name := "workloads", o.Address.Name
	if o.Address.Kind == "Job" {
		group = "jobs"
	}
	if o.Family.Name != "" {
		name = o.Family.Name
	}
	if short := strings.TrimPrefix(name, t.chart.name+"-"); short != "" {
		name = short
	}
	if replicas, ok := spec["replicas"]; ok {
		spec["replicas"] = t.action(t.values.leaf(replicas, count, group, name, "replicas"))
	}
	for _, deadline := range []string{"activeDeadlineSeconds", "progressDeadlineSeconds"} {
		if seconds, ok := spec[deadline]; ok {
			spec[deadline] = t.action(fmt.Sprintf("include \"kolla.deadline\" (list . %v)", seconds))
		}
	}
	claims, _ := spec["volumeClaimTemplates"].([]any)
	for _, each := range claims {
		claim := each.(map[string]any)
		t.claim(claim["spec"].(map[string]any), group, name, "volumes", claim["metadata"].(map[string]any)["name"].(string))
	}
	pod := spec["template"].(map[string]any)["spec"].(map[string]any)
	waits := t.waits(o, pod)
	for _, list := range []string{"initContainers", "containers"} {
		containers, _ := pod[list].([]any)
		for _, each := range containers {
			t.container(each.(map[string]any), group, name, group == "jobs" && len(waits) > 0)
		}
	}
	selector, tolerations := pod["nodeSelector"], pod["tolerations"]
	if selector == nil {
		selector = map[string]any{}
	}
	if tolerations == nil {
		tolerations = []any{}
	}
	pod["nodeSelector"] = t.optional(t.values.leaf(selector, labels, group, name, "nodeSelector"))
	pod["tolerations"] = t.optional(t.values.leaf(tolerations, objects, group, name, "tolerations"))
	if len(waits) > 0 {
		t.wait(pod, waits)
	}
}

// container replaces the settings of a container. The pods of Jobs that wait exist from the beginning, so
// that each of them reserves little.
func (t *template) container(container map[string]any, group, name string, reservesLittle bool) {
	container["image"] = t.image(container["image"].(string))
	resources := container["resources"]
	if resources == nil {
		resources = map[string]any{}
	}
	of := t.values.leaf(resources, quantities, group, name, "resources", container["name"].(string))
	container["resources"] = t.optional(of)
	if reservesLittle {
		container["resources"] = t.item(fmt.Sprintf("include \"kolla.resources\" (list . %s)", of))
	}
}

// image returns the action for the reference of an image, which is made from the registry and the
// release of the cloud if it can be.
func (t *template) image(reference string) string {
	split := providers.SplitImage(reference)
	name := split.Name()
	cloud := t.cloud.Config.Cloud
	repository, tag := split.Repository, split.Tag
	if repository == path.Join(cloud.Registry, name) {
		repository = ""
	}
	if tag == cloud.ImageTag() {
		tag = ""
	}
	if tag == "" && split.Tag == "" {
		tag = "-"
	}
	t.values.leaf(repository, word, "images", name, "repository")
	t.values.leaf(tag, word, "images", name, "tag")
	ref := t.values.leaf(split.Digest, digest, "images", name, "digest")
	return t.action(fmt.Sprintf("include \"kolla.image\" (list . %q %s)", name, strings.TrimSuffix(ref, ".digest")))
}

// claim replaces the settings of the claim of a volume.
func (t *template) claim(spec map[string]any, at ...string) {
	if resources, ok := spec["resources"].(map[string]any); ok {
		if requests, ok := resources["requests"].(map[string]any); ok {
			requests["storage"] = t.action(t.values.leaf(requests["storage"], quantity, append(at, "size")...))
		}
	}
	class, _ := spec["storageClassName"].(string)
	ref := t.values.leaf(class, word, append(at, "storageClassName")...)
	spec["storageClassName"] = t.line("{{- with "+ref+" }}", "KEY {{ . }}", "{{- end }}")
}

// marshal returns a text in JSON that a template can contain.
func marshal(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("%v is not JSON: %v", v, err))
	}
	return string(raw)
}
