// Package doctor finds faults of a cluster that keep a cloud from working, before the cloud is
// deployed and after.
//
// [Read] reads from the cluster everything that the chosen checks need, once for all of them, and [Probe] runs
// the pods that they need. [Examine] then runs the checks. A [Check] is a pure function of the [cluster.Facts].
// Its code is in one of the packages below.
package doctor

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"kolla.openstack.org/kolla/internal/base/failure"
	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/internal/run/doctor/cluster"
	"kolla.openstack.org/kolla/internal/run/doctor/network"
	"kolla.openstack.org/kolla/internal/run/doctor/nodes"
	"kolla.openstack.org/kolla/internal/run/doctor/objects"
	"kolla.openstack.org/kolla/providers"
)

// Check is one check of the cluster.
type Check struct {
	Name        string // "storage-class"
	Description string // a phrase of what it finds
	// reads returns the lists that the check needs. Read calls it again after these lists were
	// read, because they may show that further ones are needed. Nil: it needs none.
	reads func(*cluster.Facts) []providers.Scope
	pods  pods
	// find returns the findings. The error says which part of the check could not be made.
	find func(*cluster.Facts) ([]cluster.Finding, error)
}

// lists returns a Check.reads of lists of the whole cluster.
func lists(kinds ...schema.GroupVersionKind) func(*cluster.Facts) []providers.Scope {
	scopes := make([]providers.Scope, len(kinds))
	for i, kind := range kinds {
		scopes[i].GVK = kind
	}
	return func(*cluster.Facts) []providers.Scope { return scopes }
}

// Checks returns all checks, in the order of their results.
func Checks() []Check {
	probed := lists(cluster.NodeKind, cluster.PodKind, cluster.ServiceKind, cluster.NamespaceKind) // what all checks with pods need
	return []Check{
		{"kubernetes-version", "versions of Kubernetes that kolla does not support", nil, noPods, nodes.Version},
		{"configuration", "parts of the configuration that do not fit the cluster", nil, noPods, objects.Mistakes},
		{"permissions", "rights that plan and apply need and the user lacks", nil, noPods, objects.Denied},
		{"roles", "roles without enough nodes that take their pods", lists(cluster.NodeKind), noPods, nodes.Roles},
		{"capacity", "requests for CPU, memory and pods that the nodes cannot meet", lists(cluster.NodeKind, cluster.PodKind), noPods, nodes.Capacity},
		{"node-conditions", "nodes that report trouble, have an old kubelet, or a wrong clock", nodes.ReadConditions, noPods, nodes.Conditions},
		{"storage-class", "storage classes that claims need and the cluster lacks", objects.ReadClasses, noPods, objects.Classes},
		{"pod-security", "pods that the Pod Security level of their namespace refuses", lists(cluster.NamespaceKind), noPods, objects.Refused},
		{"webhooks", "admission webhooks that block objects because nothing answers for them", objects.ReadWebhooks, noPods, objects.Webhooks},
		{"node-ports", "node ports that other Services have, or that are outside of the range", network.ReadPorts, noPods, network.Ports},
		{"ways-in", "exposures that no Ingress controller, Gateway or cert-manager of the cluster serves", network.ReadServing, noPods, network.Unserved},
		{"vip", "virtual IP addresses that cannot work, or that do not answer", network.ReadVIPs, noPods, network.VIPs},
		{"images", "nodes that have different builds of an image", lists(cluster.NodeKind), noPods, nodes.Builds},
		{"certificates", "certificates that end soon, or that do not fit their key", objects.ReadSecrets, noPods, objects.Certificates},
		{"backups", "scheduled backups that did not succeed in time", lists(objects.ScheduleKind), noPods, objects.Backups},
		{"dns", "nodes whose pods do not resolve SERVICE.NAMESPACE, or slowly", probed, nodePods, network.DNS},
		{"network", "large packets that get lost between nodes, and VIPs that nodes do not reach", func(f *cluster.Facts) []providers.Scope { return slices.Concat(probed(f), network.ReadVIPs(f)) }, nodePods, network.Packets},
		{"kernel", "features of the kernel that pods need and a node lacks", probed, nodePods, nodes.Kernel},
		{"initiators", "nodes that have the same name for iSCSI or NVMe", probed, nodePods, nodes.Initiators},
		{"image-pull", "images that a node cannot pull, or gets in another build", probed, imagePods, nodes.Pulls},
		{"volumes", "storage classes whose claims get no volume", lists(cluster.NodeKind, cluster.PodKind, cluster.ServiceKind, cluster.NamespaceKind, objects.ClassKind), volumePods, objects.Volumes},
	}
}

// Starts reports whether a check starts pods.
func (c *Check) Starts() bool { return c.pods != noPods }

// Names returns the names of checks, in their order.
func Names(checks []Check) []string {
	names := make([]string, len(checks))
	for i := range checks {
		names[i] = checks[i].Name
	}
	return names
}

// Select returns the checks named by only, or all of them if it is empty, without those named by
// skip. An unknown name is an error that lists the names.
func Select(only, skip []string) ([]Check, error) {
	all := Checks()
	known := Names(all)
	for _, name := range slices.Concat(only, skip) {
		if !slices.Contains(known, name) {
			return nil, failure.New(fmt.Sprintf("No check %q", name),
				words.WithHint(words.DidYouMean(name, known), "The checks are: "+words.All(known)+"."))
		}
	}
	chosen := slices.DeleteFunc(all, func(c Check) bool {
		return len(only) > 0 && !slices.Contains(only, c.Name) || slices.Contains(skip, c.Name)
	})
	if len(chosen) == 0 {
		return nil, failure.New("No check is left", "-only and -skip name the same checks. Leave one of them out.")
	}
	return chosen, nil
}

// Result is the result of one check.
type Result struct {
	Check    Check
	Findings []cluster.Finding
	// NotChecked says why the check, or a part of it, could not be made; empty: it was made.
	NotChecked string
}

// Report is the result of all checks.
type Report struct {
	Cloud, Server string
	Results       []Result
}

// Examine runs checks on what was read of a cluster.
func Examine(f *cluster.Facts, checks []Check) Report {
	report := Report{Cloud: f.Config.Cloud.Name, Server: f.Cluster.Server}
	for _, check := range checks {
		findings, err := check.find(f)
		result := Result{Check: check, Findings: findings}
		if err != nil {
			result.NotChecked = notChecked(err)
		}
		report.Results = append(report.Results, result)
	}
	return report
}

// notChecked words the reason why a check could not be made, one sentence for each cause.
func notChecked(err error) string {
	var lines []string
	for line := range strings.SplitSeq(err.Error(), "\n") {
		if line = strings.TrimSuffix(words.Capital(line), "."); !slices.Contains(lines, line+".") {
			lines = append(lines, line+".")
		}
	}
	return strings.Join(lines, " ")
}

// Mask applies clean, which masks secret values, to all texts.
func (r Report) Mask(clean func(string) string) {
	for i := range r.Results {
		result := &r.Results[i]
		result.NotChecked = clean(result.NotChecked)
		for j := range result.Findings {
			f := &result.Findings[j]
			f.Subject, f.Problem, f.Reason, f.Next = clean(f.Subject), clean(f.Problem), clean(f.Reason), clean(f.Next)
		}
	}
}

// Count returns the number of errors, of warnings, and of checks that could not be made.
func (r Report) Count() (faults, warnings, notChecked int) {
	for _, result := range r.Results {
		for _, f := range result.Findings {
			if f.Severity == cluster.Error {
				faults++
			} else {
				warnings++
			}
		}
		if result.NotChecked != "" {
			notChecked++
		}
	}
	return faults, warnings, notChecked
}

// Clean reports whether all checks were made and found nothing.
func (r Report) Clean() bool {
	faults, warnings, notChecked := r.Count()
	return faults+warnings+notChecked == 0
}

// Summary says in one sentence what the checks found.
func (r Report) Summary() string {
	faults, warnings, notChecked := r.Count()
	made := words.Count(len(r.Results), "check")
	if r.Clean() {
		return made + ", nothing found."
	}
	parts := []string{words.Count(faults, "error"), words.Count(warnings, "warning")}
	if notChecked > 0 {
		parts = append(parts, words.Count(notChecked, "check")+" that could not be made")
	}
	return made + ": " + words.All(parts) + "."
}
