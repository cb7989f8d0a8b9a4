package nodes_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/openstack/internal/nodes"
	"kolla.openstack.org/kolla/providers/openstack/internal/object"
)

const (
	ours   = "kolla:prod"
	theirs = "kolla:test"
)

func cloud(foreign string) object.Cloud {
	return object.Cloud{Decl: &configs.Cloud{Name: "prod", Namespace: "openstack", Foreign: foreign}}
}

// node returns a node with labels, and with the managers that own them.
func node(name string, labels map[string]string, managers map[string][]string, pods ...nodes.Pod) nodes.Node {
	return nodes.Node{
		Name: name, Labels: labels,
		Managers: func(named string) map[string][]string {
			out := map[string][]string{}
			for label, all := range managers {
				for _, m := range all {
					if named == "" || m == named {
						out[m] = append(out[m], label)
					}
				}
			}
			return out
		},
		Recorded: true,
		Pods:     func() ([]nodes.Pod, bool) { return slices.Clone(pods), true },
	}
}

// unrecorded returns a node that got no labels from kolla, according to the state.
func unrecorded(n nodes.Node) nodes.Node {
	n.Recorded = false
	return n
}

// labelsOf returns the labels in the objects, by node. A label that an apply removes has a minus.
func labelsOf(objects []providers.Object) map[string][]string {
	out := map[string][]string{}
	for _, o := range objects {
		var labels []string
		for label, value := range o.Manifest.GetLabels() {
			labels = append(labels, label+"="+value)
		}
		for _, label := range o.Unwanted {
			labels = append(labels, "-"+label)
		}
		slices.Sort(labels)
		out[o.Address.Name] = labels
	}
	return out
}

func TestStrayLabels(t *testing.T) {
	t.Parallel()
	by := func(manager ...string) map[string][]string { return map[string][]string{"a": manager, "b": manager} }
	pod := nodes.Pod{Name: "api", NodeSelector: map[string]string{"a": "1", "b": "1"}}
	agent := nodes.Pod{Name: "agent", NodeSelector: pod.NodeSelector, DaemonSet: true}
	role := func(name string, labels map[string]string, members ...string) configs.Role {
		return configs.Role{Name: name, Labels: labels, Nodes: members}
	}
	ab := map[string]string{"a": "1", "b": "1"}
	for name, test := range map[string]struct {
		roles   []configs.Role
		node    nodes.Node
		foreign string
		open    bool     // not all roles are known
		want    []string // labels of the node; nil: no object
		warning string   // part of the only warning; empty: none
	}{
		"all labels":               {node: node("n", ab, by("kubelet")), want: []string{"-a", "-b"}},
		"by nobody":                {node: node("n", ab, nil), want: []string{"-a", "-b"}},
		"with pods":                {node: node("n", ab, by("kubelet"), pod, agent), want: []string{"-a", "-b"}, warning: "kubectl delete pods --namespace openstack api"},
		"some labels":              {node: node("n", map[string]string{"a": "1"}, by("kubelet"))},
		"another value":            {node: node("n", map[string]string{"a": "1", "b": "2"}, by("kubelet"))},
		"given up by the apply":    {node: node("n", ab, by(ours))},
		"in our name, unknown":     {node: unrecorded(node("n", ab, by(ours))), want: []string{"-a", "-b"}},
		"given by us and by them":  {node: node("n", ab, by("kubectl", ours)), want: []string{"-a", "-b"}},
		"of another cloud":         {node: node("n", ab, by(theirs)), warning: `Cloud "test" gives them the label a`},
		"ignored":                  {node: node("n", ab, by("kubelet")), foreign: "ignore"},
		"reported":                 {node: node("n", ab, by("kubelet"), pod), foreign: "report", want: []string{"-a", "-b"}, warning: "The labels stay"},
		"with undecided roles":     {node: node("n", ab, by("kubelet")), open: true},
		"of another role":          {node: node("n", ab, by("kubelet")), roles: []configs.Role{role("other", map[string]string{"a": "1"}, "n")}, want: []string{"-b", "a=1"}},
		"all of another role":      {node: node("n", ab, by(ours)), roles: []configs.Role{role("other", ab, "n")}, want: []string{"a=1", "b=1"}},
		"of Kubernetes":            {node: node("n", map[string]string{"node-role.kubernetes.io/x": ""}, nil), roles: []configs.Role{role("k", map[string]string{"node-role.kubernetes.io/x": ""}, "m")}, warning: "belongs to Kubernetes"},
		"restricted":               {node: node("n", map[string]string{"a.node-restriction.kubernetes.io/x": ""}, nil), roles: []configs.Role{role("k", map[string]string{"a.node-restriction.kubernetes.io/x": ""}, "m")}, want: []string{"-a.node-restriction.kubernetes.io/x"}},
		"a member, by the label":   {node: node("n", ab, by("kubelet")), roles: []configs.Role{{Name: "k", Match: map[string]string{"a": "1"}, Labels: map[string]string{"b": "1"}}}, want: []string{"-a", "b=1"}},
		"without labels of a role": {node: node("n", nil, nil), roles: []configs.Role{role("k", nil, "m")}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			roles := append([]configs.Role{role("r", ab, "m")}, test.roles...)
			_, objects, diags := nodes.Of(cloud(test.foreign), roles, !test.open, []nodes.Node{node("m", nil, nil), test.node})
			if diff := cmp.Diff(test.want, labelsOf(objects)["n"]); diff != "" {
				t.Errorf("labels (-want +got):\n%s", diff)
			}
			var warnings []string
			for _, d := range diags {
				warnings = append(warnings, d.Summary+": "+d.Detail)
			}
			if text := strings.Join(warnings, "\n"); (text != "") != (test.warning != "") || !strings.Contains(text, test.warning) {
				t.Errorf("warnings: %s", text)
			}
		})
	}
}

// TestFormerLabels checks that a former label of the cloud stays while a pod selects it.
func TestFormerLabels(t *testing.T) {
	t.Parallel()
	old := map[string]string{"old": "1", "new": "1"}
	pod := nodes.Pod{Name: "agent", NodeSelector: map[string]string{"old": "1"}, DaemonSet: true}
	for name, test := range map[string]struct {
		node nodes.Node
		want []string
	}{
		"selected":        {node("n", old, map[string][]string{"old": {ours}, "new": {ours}}, pod), []string{"new=1", "old=1"}},
		"with others":     {node("n", old, map[string][]string{"old": {"kubectl", ours}}, pod), []string{"new=1", "old=1"}},
		"not selected":    {node("n", old, map[string][]string{"old": {ours}}, nodes.Pod{Name: "x", NodeSelector: map[string]string{"new": "1"}}), []string{"new=1"}},
		"of others":       {node("n", old, map[string][]string{"old": {"kubectl"}}, pod), []string{"new=1"}},
		"another value":   {node("n", map[string]string{"old": "2"}, map[string][]string{"old": {ours}}, pod), []string{"new=1"}},
		"of another role": {node("n", map[string]string{"other": "1"}, map[string][]string{"other": {ours}}, nodes.Pod{Name: "x", NodeSelector: map[string]string{"other": "1"}}), []string{"new=1"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			roles := []configs.Role{
				{Name: "r", Labels: map[string]string{"new": "1"}, Nodes: []string{"n"}},
				{Name: "s", Labels: map[string]string{"other": "1"}, Nodes: []string{"m"}},
			}
			_, objects, diags := nodes.Of(cloud(""), roles, true, []nodes.Node{test.node, node("m", nil, nil)})
			if diff := cmp.Diff(test.want, labelsOf(objects)["n"]); diff != "" {
				t.Errorf("labels (-want +got):\n%s", diff)
			}
			if (len(diags) > 0) != (len(test.want) > 1) {
				t.Errorf("warnings: %v", diags)
			}
		})
	}
}

// TestUnjudgedLabels checks that a former label also stays while a live workload selects it, while
// pods or workloads cannot be listed, and while not all roles are known.
func TestUnjudgedLabels(t *testing.T) {
	t.Parallel()
	with := func(pods, workloads bool, selectors ...map[string]string) nodes.Node {
		n := node("n", map[string]string{"old": "1"}, map[string][]string{"old": {ours}})
		n.Pods = func() ([]nodes.Pod, bool) { return nil, pods }
		n.Selectors = func() ([]map[string]string, bool) { return selectors, workloads }
		return n
	}
	old := map[string]string{"old": "1"}
	for name, test := range map[string]struct {
		node    nodes.Node
		open    bool
		kept    bool
		warning string
	}{
		"unused":                 {node: with(true, true, map[string]string{"old": "2"})},
		"of a workload":          {node: with(true, true, old), kept: true, warning: "live workloads"},
		"of a workload, no pods": {node: with(false, true, old), kept: true, warning: "live workloads"},
		"pods are not listed":    {node: with(false, true), kept: true, warning: "cannot be listed"},
		"workloads are not":      {node: with(true, false), kept: true, warning: "cannot be listed"},
		"undecided roles":        {node: with(true, true), open: true, kept: true},
	} {
		roles := []configs.Role{{Name: "r", Labels: map[string]string{"new": "1"}, Nodes: []string{"n"}}}
		_, objects, diags := nodes.Of(cloud(""), roles, !test.open, []nodes.Node{test.node})
		if _, kept := objects[0].Manifest.GetLabels()["old"]; kept != test.kept {
			t.Errorf("%s: kept: %t", name, kept)
		}
		if (len(diags) > 0) != (test.warning != "") || len(diags) > 0 && !strings.Contains(diags[0].Detail, test.warning) {
			t.Errorf("%s: %v", name, diags)
		}
	}
}

// TestOtherValueOfALabel checks that a role cannot change the value of a label that live workloads
// select. It may, if the node moves to another role, or if another program set the value.
func TestOtherValueOfALabel(t *testing.T) {
	t.Parallel()
	other := configs.Role{Name: "other", Labels: map[string]string{"tier": "a"}, Nodes: []string{"m"}}
	for name, test := range map[string]struct {
		selected, manager string
		roles             []configs.Role
		wrong             bool
	}{
		"the former value is selected": {selected: "a", manager: ours, wrong: true},
		"the new value is selected":    {selected: "b", manager: ours},
		"no value is selected":         {selected: "c", manager: ours},
		"a node goes over":             {selected: "a", manager: ours, roles: []configs.Role{other}},
		"set by others":                {selected: "a", manager: "kubelet"},
	} {
		n := node("n", map[string]string{"tier": "a"}, map[string][]string{"tier": {test.manager}})
		n.Selectors = func() ([]map[string]string, bool) { return []map[string]string{{"tier": test.selected}}, true }
		roles := append([]configs.Role{{Name: "r", Labels: map[string]string{"tier": "b"}, Nodes: []string{"n"}}}, test.roles...)
		_, _, diags := nodes.Of(cloud(""), roles, true, []nodes.Node{node("m", nil, nil), n})
		if diags.HasErrors() != test.wrong || test.wrong && !strings.Contains(diags[0].Detail, "Use another key") {
			t.Errorf("%s: %v", name, diags)
		}
	}
}

// TestFormerLabelOfAnotherRole checks that a former label stays, even if another role has the same
// key with another value.
func TestFormerLabelOfAnotherRole(t *testing.T) {
	t.Parallel()
	n := node("n", map[string]string{"tier": "x"}, map[string][]string{"tier": {ours}})
	n.Selectors = func() ([]map[string]string, bool) { return []map[string]string{{"tier": "x"}}, true }
	roles := []configs.Role{
		{Name: "a", Labels: map[string]string{"zone": "x"}, Nodes: []string{"n"}},
		{Name: "b", Labels: map[string]string{"tier": "y"}, Nodes: []string{"m"}},
	}
	_, objects, diags := nodes.Of(cloud(""), roles, true, []nodes.Node{node("m", nil, nil), n})
	if diff := cmp.Diff([]string{"tier=x", "zone=x"}, labelsOf(objects)["n"]); diff != "" || diags.HasErrors() {
		t.Errorf("labels (-want +got):\n%s\n%v", diff, diags)
	}
}

// TestWarningsOfManyNodes checks that the same warning about many nodes is one diagnostic.
func TestWarningsOfManyNodes(t *testing.T) {
	t.Parallel()
	var cluster []nodes.Node
	var names []string
	for i := range 100 {
		n := node(fmt.Sprintf("n%02d", i), map[string]string{"old": "x"}, map[string][]string{"old": {ours}})
		n.Selectors = func() ([]map[string]string, bool) { return []map[string]string{{"old": "x"}}, true }
		cluster, names = append(cluster, n), append(names, n.Name)
	}
	_, _, diags := nodes.Of(cloud(""), []configs.Role{{Name: "a", Labels: map[string]string{"new": "x"}, Nodes: names}}, true, cluster)
	if len(diags) != 1 || diags[0].Summary != "Nodes n00, n01, n02, n03, n04 and 95 more keep a former label" {
		t.Errorf("got %v", diags)
	}
}

// TestRightLabelsCostNothing checks that no pods or workloads are listed if all labels are right.
func TestRightLabelsCostNothing(t *testing.T) {
	t.Parallel()
	var cluster []nodes.Node
	var names []string
	for i := range 1000 {
		n := node(fmt.Sprintf("n%d", i), map[string]string{"r": "1", "kubernetes.io/hostname": "x"}, map[string][]string{"r": {ours}})
		managers := n.Managers
		n.Managers = func(named string) map[string][]string {
			if named != ours {
				t.Errorf("somebody looks for all managers (%q)", named)
			}
			return managers(named)
		}
		n.Pods = func() ([]nodes.Pod, bool) { t.Error("somebody lists pods"); return nil, true }
		n.Selectors = func() ([]map[string]string, bool) { t.Error("somebody lists workloads"); return nil, true }
		cluster, names = append(cluster, n), append(names, n.Name)
	}
	_, objects, diags := nodes.Of(cloud(""), []configs.Role{{Name: "r", Labels: map[string]string{"r": "1"}, Nodes: names}}, true, cluster)
	if len(objects) != 1000 || len(diags) > 0 {
		t.Errorf("%d objects, %v", len(objects), diags)
	}
}
