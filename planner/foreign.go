package planner

import (
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"kolla.openstack.org/kolla/lang"
	"kolla.openstack.org/kolla/providers"
)

// Foreign are the fields of one of kolla's objects that somebody else added and
// that nothing declares. They are no changes: they stay as they are.
type Foreign struct {
	Address lang.Address  `json:"address"`
	Ref     providers.Ref `json:"ref"`
	// Fields have the live value in Before, and who wrote it last.
	Fields []Change `json:"fields"`
}

// Additions counts what people and their tools have added to kolla's objects, so
// that it does not go unseen where nobody asked for the list, which is Foreign. What
// controllers add is not counted.
type Additions struct {
	Objects  int      `json:"objects"`
	Fields   int      `json:"fields"`
	Managers []string `json:"managers"` // the field managers, sorted
}

var (
	// household matches the parts of Kubernetes that write to every object of their
	// kind, besides builtinControllers.
	household = regexp.MustCompile(`^(kubelet|kube-(scheduler|apiserver)|cloud-controller-manager)$`)
	// notes are annotations that tools and controllers leave for themselves.
	notes = []string{
		corev1.LastAppliedConfigAnnotation, "deployment.kubernetes.io/", "pv.kubernetes.io/", "volume.kubernetes.io/",
		"volume.beta.kubernetes.io/", "control-plane.alpha.kubernetes.io/", "endpoints.kubernetes.io/",
	}
)

// foreignFields lists, object by object, what others have added.
func (p *planning) foreignFields() []Foreign {
	var all []Foreign
	for _, s := range p.subjects {
		if !s.shared() {
			continue
		}
		if fields := s.foreignFields(); len(fields) > 0 {
			all = append(all, Foreign{Address: s.object.Address, Ref: s.action.Ref, Fields: fields})
		}
	}
	slices.SortFunc(all, func(a, b Foreign) int { return a.Address.Compare(b.Address) })
	return all
}

// additions counts the part of foreignFields that somebody may have to know of. Of
// most objects only the names of their managers are read.
func (p *planning) additions() *Additions {
	var found Additions
	judged := map[string]bool{} // few names are on very many objects
	counts := func(manager string) bool {
		verdict, known := judged[manager]
		if !known {
			verdict = meddles(manager)
			judged[manager] = verdict
		}
		return verdict
	}
	for _, s := range p.subjects {
		if !s.shared() || !writtenBy(s.live, counts) {
			continue
		}
		fields := slices.DeleteFunc(s.foreignFields(), func(c Change) bool { return !counts(c.Manager) })
		if len(fields) == 0 {
			continue
		}
		found.Objects++
		found.Fields += len(fields)
		for _, c := range fields {
			found.Managers = append(found.Managers, c.Manager)
		}
	}
	if found.Objects == 0 {
		return nil
	}
	slices.Sort(found.Managers)
	found.Managers = slices.Compact(found.Managers)
	return &found
}

// shared reports whether the object is kolla's, and others may add to it.
func (s *subject) shared() bool {
	return s.live != nil && !s.adopts() && !s.object.Partial && !s.object.Run()
}

// meddles reports whether a manager is neither kolla nor something that looks after
// objects of its own accord.
func meddles(manager string) bool {
	switch {
	case manager == providers.FieldManager, strings.HasPrefix(manager, providers.FieldManager+":"):
		return false
	case slices.Contains(builtinControllers, manager), household.MatchString(manager):
		return false
	}
	return !controllers.MatchString(manager)
}

// writtenBy reports whether one of the managers that count has written to the object
// itself, or scaled it.
func writtenBy(live *unstructured.Unstructured, counts func(manager string) bool) bool {
	entries, _, _ := unstructured.NestedFieldNoCopy(live.Object, "metadata", "managedFields")
	list, _ := entries.([]any)
	return slices.ContainsFunc(list, func(item any) bool {
		entry, _ := item.(map[string]any)
		manager, _ := entry["manager"].(string)
		subresource, _ := entry["subresource"].(string)
		return (subresource == "" || subresource == scaleSubresource) && counts(manager)
	})
}

func (s *subject) foreignFields() []Change {
	owners := ownershipOf(s.live, s.manager)
	secret := s.action.Ref.GVK.GroupKind() == providers.SecretKind
	fields := map[string]Change{}
	for _, other := range owners.others {
		for _, path := range other.adds(owners.kolla, s.declares) {
			value, there := lookup(s.live.Object, path)
			if !there {
				continue
			}
			d := difference{path: path, Change: Change{Path: pathText(path), Before: value, Manager: other.manager, Time: other.time}}
			if sensitive(path, secret) || secret && annotation(path) {
				d.mask()
			}
			if known, twice := fields[d.Path]; !twice || known.Time.Before(d.Time) {
				fields[d.Path] = d.Change
			}
		}
	}
	var list []Change
	for _, c := range fields {
		list = append(list, c)
	}
	slices.SortFunc(list, func(a, b Change) int { return strings.Compare(a.Path, b.Path) })
	return list
}

// annotation reports whether the path is of an annotation. Other tools keep whole
// objects in theirs, values of Secrets included.
func annotation(path fieldpath.Path) bool {
	annotations := fieldpath.MakePathOrDie("metadata", "annotations")
	return len(path) >= len(annotations) && path[:len(annotations)].Equals(annotations)
}

// declares reports whether the configuration has the field, or something below it:
// whoever wrote it, what becomes of it is told elsewhere.
func (s *subject) declares(path fieldpath.Path) bool {
	if _, declared := lookup(s.object.Manifest.Object, path); declared {
		return true
	}
	if len(path) != 2 || path[0].FieldName == nil || path[1].FieldName == nil || *path[0].FieldName != "data" {
		return false
	}
	_, declared := s.object.Data[*path[1].FieldName]
	return declared
}

// adds lists what the owner has that kolla neither has nor declares, each thing once
// and as a whole where nothing in it is kolla's.
func (o owner) adds(kolla *fieldpath.Set, declares func(fieldpath.Path) bool) []fieldpath.Path {
	if o.subresource != "" && o.subresource != scaleSubresource {
		return nil
	}
	kubernetes := o.subresource == "" && (household.MatchString(o.manager) || slices.Contains(builtinControllers, o.manager))
	own := o.fields.Difference(kolla)
	var paths []fieldpath.Path
	for _, path := range highest(own) {
		switch {
		case kubernetes || keeps(path):
		case touches(kolla, path), declares(path):
			own.Leaves().Iterate(func(leaf fieldpath.Path) {
				if len(leaf) > len(path) && leaf[:len(path)].Equals(path) && !repeatsKey(leaf) && !declares(leaf) {
					paths = append(paths, leaf.Copy())
				}
			})
		default:
			paths = append(paths, path)
		}
	}
	return paths
}

// keeps reports whether a path is of what the server and tools keep for themselves.
func keeps(path fieldpath.Path) bool {
	if len(path) == 0 || path[0].FieldName == nil || *path[0].FieldName == "status" {
		return true
	}
	if len(path) < 2 || *path[0].FieldName != "metadata" || path[1].FieldName == nil {
		return false
	}
	if *path[1].FieldName != "annotations" || len(path) < 3 {
		return slices.Contains(bookkeeping, *path[1].FieldName)
	}
	return path[2].FieldName != nil && slices.ContainsFunc(notes, func(note string) bool {
		return strings.HasPrefix(*path[2].FieldName, note)
	})
}
