package planner

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/intstr"

	"kolla.openstack.org/kolla/lang"
	"kolla.openstack.org/kolla/providers"
)

// impact says what the actions disturb, block by block.
func (p *planning) impact(actions []Action) []Impact {
	subjects := map[lang.Address]*subject{}
	for _, s := range p.subjects {
		subjects[s.object.Address] = s
	}
	lines, grave := map[string][]string{}, map[string][]string{}
	workloads := map[string]int{}
	for _, a := range actions {
		if runsPods(a.Ref.GVK.GroupKind()) && a.Ref.GVK.GroupKind() != providers.JobKind {
			workloads[a.Address.Block]++
		}
	}
	var blocks []string
	for _, l := range p.losses {
		if len(lines[l.Address.Block]) == 0 {
			lost := p.lossLines(l.Address.Block)
			lines[l.Address.Block], grave[l.Address.Block] = lost, slices.Clone(lost)
		}
		blocks = append(blocks, l.Address.Block)
	}
	for i := range actions {
		d := disturbance{planning: p, action: &actions[i], subject: subjects[actions[i].Address]}
		block := actions[i].Address.Block
		disturbed := d.lines()
		for n, line := range slices.Concat(disturbed, d.volumesStay()) {
			if workloads[block] > 1 && d.serves() {
				line = actions[i].Address.Name + ": " + line
			}
			lines[block] = append(lines[block], line)
			if d.grave() && n < len(disturbed) {
				grave[block] = append(grave[block], line)
			}
		}
		blocks = append(blocks, block)
	}
	slices.Sort(blocks)
	var impact []Impact
	for _, block := range slices.Compact(blocks) {
		if len(lines[block]) > 0 {
			impact = append(impact, Impact{Block: block, Lines: lines[block], Grave: grave[block]})
		}
	}
	return impact
}

// disturbance is what one action means to those who use what it is about.
type disturbance struct {
	*planning
	action  *Action
	subject *subject // nil for what is not desired
}

// serves reports whether the action is about pods that run all the time.
func (d *disturbance) serves() bool {
	kind := d.action.Ref.GVK.GroupKind()
	return runsPods(kind) && kind != providers.JobKind
}

// grave reports whether what is said of the action is that something stops or is lost.
func (d *disturbance) grave() bool {
	deletes := d.action.Verb == Delete && !d.action.Partial || d.action.Verb == Replace
	return deletes && d.action.Ref.GVK.GroupKind() != providers.JobKind
}

func (d *disturbance) lines() []string {
	live := d.Snapshot.Get(d.action.Ref)
	switch kind := d.action.Ref.GVK.GroupKind(); {
	case kind == providers.JobKind:
		return d.job()
	case d.serves():
		return d.workload(live)
	case d.action.Verb == Replace:
		return d.replacement()
	case d.action.Heir != (lang.Address{}):
		if lost := d.carried[d.action.Ref].lost; len(lost) > 0 {
			return []string{fmt.Sprintf("%s is deleted, and with it %s, which %s does not take along", d.action.Ref, enumerate(lost, 4), d.action.Heir.Name)}
		}
	case d.action.Verb == Delete && !d.action.Partial && kind != providers.NamespaceKind:
		recorded := ""
		if r := d.recorded[d.action.Address]; r != nil {
			recorded = r.Holds
		}
		if holds := holding(live, recorded); holds != "" {
			return []string{fmt.Sprintf("%s is deleted, and %s with it", d.action.Ref, holds)}
		}
	case kind == serviceKind && slices.ContainsFunc(d.action.Changes, isPort) && live != nil:
		return []string{fmt.Sprintf("the ports of %s change", d.action.Ref)}
	}
	return nil
}

// replacement says what becomes of an object without pods that is made again.
func (d *disturbance) replacement() []string {
	var lines []string
	if d.action.Ref.GVK.GroupKind() == serviceKind {
		lines = append(lines, fmt.Sprintf("%s is deleted and made again: nothing reaches it in between", d.action.Ref))
		if slices.ContainsFunc(d.action.Changes, isPort) {
			lines = append(lines, fmt.Sprintf("the ports of %s change", d.action.Ref))
		}
	}
	if d.action.Holds != "" {
		lines = append(lines, fmt.Sprintf("%s is deleted and made again, and %s is lost", d.action.Ref, d.action.Holds))
	}
	return lines
}

func isPort(c Change) bool { return within(c.Path, "spec.ports") || within(c.Path, "spec.type") }

func (d *disturbance) job() []string {
	name := d.action.Address.Name
	if d.subject != nil && d.subject.versioned() {
		name = d.subject.object.Family.Name
	}
	switch d.action.Verb {
	case Run:
		return []string{fmt.Sprintf("job %s runs", name)}
	case Replace:
		return []string{fmt.Sprintf("job %s runs again", name)}
	}
	return nil
}

// workload says what becomes of the pods.
func (d *disturbance) workload(live *unstructured.Unstructured) []string {
	switch d.action.Verb {
	case Create:
		n, known := replicas(d.subject.after)
		if !known {
			return []string{"will be deployed, one pod on each of its nodes"}
		}
		return []string{fmt.Sprintf("%s will be deployed", pods(n))}
	case Delete:
		n, _ := replicas(live)
		return append([]string{fmt.Sprintf("%s %s for good", pods(n), verb(n, "stop"))}, d.volumesLost()...)
	case Replace:
		n, _ := replicas(live)
		why := "as requested"
		switch d.action.Reasons[0].Kind {
		case ReasonImmutable:
			why = pathsOf(d.action.Reasons) + " cannot be changed in place"
		case ReasonTriggered, ReasonOwed:
			why = d.action.Reasons[0].TriggerWords()
		}
		return append([]string{fmt.Sprintf("%s %s at once, and new ones are made: %s", pods(n), verb(n, "stop"), why)}, d.volumesLost()...)
	case Update, Adopt:
		return append(d.restart(live), d.scale(live)...)
	}
	return nil
}

// volumesLost says that the volumes of a StatefulSet are lost with it.
func (d *disturbance) volumesLost() []string {
	if d.action.Holds == "" {
		return nil
	}
	return []string{d.action.Holds + ", is lost"}
}

// volumesStay says which volumes a StatefulSet leaves that goes.
func (d *disturbance) volumesStay() []string {
	if d.action.Verb != Delete || d.action.Holds != "" || !d.serves() {
		return nil
	}
	names := namesOf(d.unmentioned(d.staying(d.Snapshot.Get(d.action.Ref))))
	if len(names) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%s %s, with the data: %s", numbered(len(names), "volume"), verb(len(names), "stay"), enumerate(names, 3))}
}

// restart says which pods are made anew because their template changes.
func (d *disturbance) restart(live *unstructured.Unstructured) []string {
	if !slices.ContainsFunc(d.action.Changes, inTemplate) {
		return nil
	}
	n, _ := replicas(live)
	if after, known := replicas(d.subject.after); known {
		n = min(n, after)
	}
	if n == 0 {
		return nil
	}
	why := enumerate(d.causes(live), 3)
	pace, onRequest := pace(d.subject.after, n)
	if onRequest {
		return []string{fmt.Sprintf("%s %s as before until somebody deletes %s: %s", pods(n), verb(n, "go on"), them(n), why)}
	}
	return []string{fmt.Sprintf("%s %s%s: %s", pods(n), verb(n, "restart"), pace, why)}
}

func inTemplate(c Change) bool { return within(c.Path, "spec.template") }

// scale says how many pods come or go.
func (d *disturbance) scale(live *unstructured.Unstructured) []string {
	before, known := replicas(live)
	after, alsoKnown := replicas(d.subject.after)
	switch {
	case !known || !alsoKnown || before == after:
		return nil
	case before < after:
		return []string{pods(after-before) + " added"}
	}
	return []string{pods(before-after) + " removed"}
}

// causes says what made the pod template change.
func (d *disturbance) causes(live *unstructured.Unstructured) []string {
	causes := d.fileCauses(live)
	for _, c := range d.action.Changes {
		if inTemplate(c) && !isFileReference(c.Path) {
			if cause := templateCause(c); !slices.Contains(causes, cause) {
				causes = append(causes, cause)
			}
		}
	}
	return causes
}

// secretNote is how the path begins of the annotation by which a pod template
// carries the revision of a Secret that it mounts.
const secretNote = `metadata.annotations["kolla.openstack.org/secret-`

// templateCause puts one change of a pod template into words.
func templateCause(c Change) string {
	path := strings.TrimPrefix(strings.TrimPrefix(c.Path, "spec.template."), "spec.")
	image, isImage := c.After.(string)
	switch {
	case isImage && strings.HasSuffix(path, ".image"):
		before, _ := c.Before.(string)
		was, is := imageChange(before, image)
		return fmt.Sprintf("image %s → %s", was, is)
	case strings.Contains(path, ".env["):
		_, rest, _ := strings.Cut(path, `.env["`)
		name, _, _ := strings.Cut(rest, `"]`)
		return name + " in the environment changed"
	case strings.HasPrefix(path, secretNote):
		return "values of secret " + strings.TrimSuffix(strings.TrimPrefix(path, secretNote), `"]`) + " changed"
	case strings.Contains(path, "].resources"):
		return "resources changed"
	}
	return path + " changed"
}

// imageChange names two images by the part in which they differ: their last names
// with tag or digest, or where they come from, or both.
func imageChange(before, after string) (was, is string) {
	beforeName, afterName := baseName(before), baseName(after)
	switch {
	case before == "":
		return "none", after
	case strings.TrimSuffix(before, beforeName) == strings.TrimSuffix(after, afterName):
		return beforeName, afterName
	case beforeName != afterName:
		return before, after
	}
	version := afterName[strings.IndexAny(afterName+":", ":@"):]
	return strings.TrimSuffix(before, version), strings.TrimSuffix(after, version)
}

func baseName(image string) string { return image[strings.LastIndex(image, "/")+1:] }

// isFileReference reports whether the path says which ConfigMap or Secret a volume
// shows; fileCauses puts those into words.
func isFileReference(path string) bool {
	return within(path, "spec.template.spec.volumes") &&
		(strings.HasSuffix(path, ".configMap.name") || strings.HasSuffix(path, ".secret.secretName"))
}

// fileCauses says what changed in the files that the pods see: in those volumes
// that come from another ConfigMap or Secret than before.
func (d *disturbance) fileCauses(live *unstructured.Unstructured) []string {
	before, after := fileVolumes(live), fileVolumes(d.subject.after)
	var causes []string
	for _, volume := range after.names {
		was, is := before.refs[volume], after.refs[volume]
		if was != (providers.Ref{}) && was != is {
			causes = append(causes, d.contentCauses(was, is)...)
		}
	}
	return causes
}

// volumes are the ConfigMaps and Secrets that a pod template shows as files.
type volumes struct {
	names []string // of the volumes, in order
	refs  map[string]providers.Ref
}

func fileVolumes(workload *unstructured.Unstructured) volumes {
	v := volumes{refs: map[string]providers.Ref{}}
	list, _, _ := unstructured.NestedSlice(workload.Object, "spec", "template", "spec", "volumes")
	for _, item := range list {
		volume, _ := item.(map[string]any)
		name, _, _ := unstructured.NestedString(volume, "name")
		ref := providers.Ref{Namespace: workload.GetNamespace()}
		if configMap, ok, _ := unstructured.NestedString(volume, "configMap", "name"); ok {
			ref.GVK, ref.Name = providers.ConfigMapKind.WithVersion("v1"), configMap
		} else if secret, ok, _ := unstructured.NestedString(volume, "secret", "secretName"); ok {
			ref.GVK, ref.Name = secrets, secret
		} else {
			continue
		}
		v.names = append(v.names, name)
		v.refs[name] = ref
	}
	return v
}

// contentCauses says what differs between two objects that hold files.
func (d *disturbance) contentCauses(was, is providers.Ref) []string {
	object := d.desired[d.byRef[identify(is)]]
	if object == nil {
		return []string{fmt.Sprintf("%s → %s", was, is.Name)}
	}
	if is.GVK == secrets {
		var causes []string
		for key := range object.Data {
			causes = append(causes, "secret values in "+key+" changed")
		}
		slices.Sort(causes)
		return causes
	}
	before := map[string]string{}
	if live := d.Snapshot.Get(was); live != nil {
		before, _, _ = unstructured.NestedStringMap(live.Object, "data")
	}
	after, _, _ := unstructured.NestedStringMap(object.Manifest.Object, "data")
	var causes []string
	for key, text := range after {
		if text == before[key] {
			continue
		}
		if names := settingsChanged(before[key], text); len(names) > 0 {
			causes = append(causes, fmt.Sprintf("%s in %s changed", enumerate(names, 2), key))
		} else {
			causes = append(causes, key+" changed")
		}
	}
	slices.Sort(causes)
	return causes
}

// replicas is how many pods a workload wants; unknown for a DaemonSet that the
// cluster has not counted the nodes of.
func replicas(workload *unstructured.Unstructured) (n int, known bool) {
	if workload == nil {
		return 0, false
	}
	if workload.GroupVersionKind().GroupKind() == daemonSetKind {
		n, ok, _ := unstructured.NestedInt64(workload.Object, "status", "desiredNumberScheduled")
		return int(n), ok
	}
	if n, ok, _ := unstructured.NestedInt64(workload.Object, "spec", "replicas"); ok {
		return int(n), true
	}
	return 1, true // the default of the API
}

// pace says how many of n pods are gone at a time during a rollout, as the end of
// a sentence, and whether there is none before somebody asks for it.
func pace(workload *unstructured.Unstructured, n int) (text string, onRequest bool) {
	field := "updateStrategy"
	if workload.GroupVersionKind().GroupKind() == deploymentKind {
		field = "strategy"
	}
	kind, _, _ := unstructured.NestedString(workload.Object, "spec", field, "type")
	var at int
	switch {
	case kind == "OnDelete":
		return "", true
	case kind == "Recreate":
		at = n
	default:
		at = max(1, share(workload, n, true, "spec", field, "rollingUpdate", "maxSurge")+
			share(workload, n, false, "spec", field, "rollingUpdate", "maxUnavailable"))
	}
	switch {
	case n == 1:
		return "", false
	case at >= n:
		return ", all at once", false
	case at == 1:
		return ", one at a time", false
	}
	return fmt.Sprintf(", %d at a time", at), false
}

// share is a number of n pods, or a percentage of them, rounded as Kubernetes
// does: the surge up, the rest down.
func share(workload *unstructured.Unstructured, n int, up bool, path ...string) int {
	raw, ok, _ := unstructured.NestedFieldNoCopy(workload.Object, path...)
	if !ok {
		return 0
	}
	value := intstr.Parse(fmt.Sprint(raw))
	scaled, err := intstr.GetScaledValueFromIntOrPercent(&value, n, up)
	if err != nil {
		return 0
	}
	return scaled
}

func pods(n int) string { return numbered(n, "pod") }

// numbered is how many of something there are: "1 pod", "3 pods".
func numbered(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// verb is the form of a verb that goes with n of something.
func verb(n int, plural string) string {
	if n != 1 {
		return plural
	}
	first, rest, _ := strings.Cut(plural, " ")
	if strings.HasSuffix(first, "o") {
		first += "e"
	}
	return strings.TrimSpace(first + "s " + rest)
}

func them(n int) string {
	if n == 1 {
		return "it"
	}
	return "them"
}
