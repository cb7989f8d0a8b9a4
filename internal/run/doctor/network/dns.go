package network

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/internal/run/doctor/cluster"
	"kolla.openstack.org/kolla/internal/run/probe"
	"kolla.openstack.org/kolla/providers/kinds"
)

const (
	// apiServerName is the name of a Service that every cluster has.
	apiServerName = "kubernetes.default"
	// absentService must not exist.
	absentService = "kolla-probe-absent"
	// slowLookup is the timeout of the resolver: a lookup that takes longer has lost a packet.
	slowLookup = 2.0 // seconds
	// neededDots: the name SERVICE.NAMESPACE has one dot, and the resolver has to use the search domains for it.
	neededDots = 2
)

// Lookups returns the DNS names that pods look up.
func Lookups(f *cluster.Facts) []string {
	out := []string{apiServerName, absentService + "." + f.Config.Cloud.Namespace}
	for _, name := range namedServices(f) {
		out = append(out, name.dns)
	}
	return out
}

// serviceName is a Service of the configuration that the cluster has.
type serviceName struct {
	dns       string   // "keystone.openstack"
	addresses []string // cluster IPs
}

// namedServices returns the Services with cluster IPs. Those without have no name as long as no pod is ready.
func namedServices(f *cluster.Facts) []serviceName {
	var out []serviceName
	for i := range f.Objects {
		o := &f.Objects[i]
		if o.Ref().GVK.GroupKind() != kinds.Service {
			continue
		}
		var live corev1.Service
		if u := f.Live.Get(o.Ref()); u == nil || !cluster.Decode(u, &live) || live.Spec.Type == corev1.ServiceTypeExternalName {
			continue
		}
		if ips := slices.DeleteFunc(live.Spec.ClusterIPs, func(ip string) bool { return ip == corev1.ClusterIPNone }); len(ips) > 0 {
			out = append(out, serviceName{live.Name + "." + live.Namespace, ips})
		}
	}
	return out
}

// DNS checks on each node that pods resolve the names of Services.
func DNS(f *cluster.Facts) ([]cluster.Finding, error) {
	reports, err := f.Reports()
	wanted := map[string][]string{}
	for _, s := range namedServices(f) {
		wanted[s.dns] = s.addresses
	}
	var found cluster.ByNode
	for _, n := range reports {
		for _, finding := range judgeDNS(n.Report, wanted) {
			found.Add(finding, n.Node.Name)
		}
	}
	return found.Findings(), err
}

// judgeDNS returns the faults of DNS on one node.
func judgeDNS(r *probe.Report, wanted map[string][]string) []cluster.Finding {
	servers := words.All(r.Resolver.Nameservers)
	var silent, unknown, wrong []string
	slowest := 0.0
	invented := ""
	for _, l := range r.Names {
		if strings.HasPrefix(l.Name, absentService+".") { // servers outside may answer, or be out of reach
			invented = strings.Join(l.Addresses, ", ")
			continue
		}
		slowest = max(slowest, l.Seconds)
		switch {
		case l.Problem == probe.NoAnswer:
			silent = append(silent, l.Name)
		case l.Problem != "":
			unknown = append(unknown, l.Name)
		case wanted[l.Name] != nil && !slices.ContainsFunc(l.Addresses, func(a string) bool { return sameIn(wanted[l.Name], a) }):
			wrong = append(wrong, fmt.Sprintf("%s is %s, and the Service has %s", l.Name, words.All(l.Addresses), words.All(wanted[l.Name])))
		}
	}
	const everything = "Services find each other by names such as keystone.openstack: databases, message queues and all APIs."
	const look = "Look at the pods of the cluster's DNS and their logs: kubectl -n kube-system get pods -l k8s-app=kube-dns -o wide"
	var out []cluster.Finding
	report := func(severity cluster.Severity, problem, reason, next string) {
		out = append(out, cluster.Finding{Severity: severity, Problem: problem, Reason: reason, Next: next})
	}
	if len(silent) > 0 {
		report(cluster.Error, "pods get no answer from DNS for "+words.Few(silent, 4),
			everything+" The name servers of the pods: "+servers+".",
			look+". If other nodes get answers, the network between this node and those pods is broken, or a firewall drops UDP port 53, or kube-proxy does not run.")
	}
	if len(unknown) > 0 {
		report(cluster.Error, "DNS does not know "+words.Few(unknown, 4),
			everything+" Pods search in "+words.All(r.Resolver.Search)+", and ask "+servers+".",
			"The search domains need svc.DOMAIN, and DOMAIN is clusterDomain of the kubelet and of the cluster's DNS. "+look)
	}
	if len(wrong) > 0 {
		report(cluster.Error, "DNS gives other addresses than those of the Services",
			"Programs connect to something else:\n"+strings.Join(words.First(wrong, 4, "name"), "\n"),
			"A search domain or another DNS server answers first. "+look)
	}
	if invented != "" {
		report(cluster.Warning, "DNS has an address for a Service that does not exist: "+invented,
			"A domain that answers for all names hides mistakes: a program connects to a wrong machine instead of failing.",
			"Remove the wildcard record, or the domain from the search domains of the node: "+words.All(r.Resolver.Search)+".")
	}
	if r.Resolver.Ndots < neededDots {
		report(cluster.Warning, fmt.Sprintf("the resolver of pods has ndots:%d", r.Resolver.Ndots),
			"Names such as keystone.openstack are first looked up outside of the cluster. That takes time, and a domain outside may answer.",
			"Kubernetes sets ndots:5. Look for a policy or a webhook that sets dnsConfig of pods.")
	}
	if slowest >= slowLookup && len(silent) == 0 {
		report(cluster.Warning, "looking up a name takes longer than the timeout of the resolver, "+words.Duration(probe.Duration(slowLookup)),
			"Requests to DNS get lost, and each request of OpenStack may wait for several names.",
			"Look whether one of several name servers is down, and whether the DNS pods have enough CPU. "+look)
	}
	return out
}

// sameIn reports whether an IP address is one of some.
func sameIn(addresses []string, address string) bool {
	wanted, err := netip.ParseAddr(address)
	return slices.ContainsFunc(addresses, func(each string) bool {
		a, bad := netip.ParseAddr(each)
		return err == nil && bad == nil && a.Unmap() == wanted.Unmap()
	})
}
