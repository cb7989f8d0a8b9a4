package blocks

import (
	"cmp"

	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/internal/eval"
	"kolla.openstack.org/kolla/lang/internal/source"
	"kolla.openstack.org/kolla/lang/releases"
	"kolla.openstack.org/kolla/lang/schema"
)

// Cloud evaluates the cloud block without its defaults, which each service evaluates.
func Cloud(e *eval.Env, b *source.Block) (configs.Cloud, cty.Value) {
	c := configs.Cloud{
		Name:        b.Label,
		Release:     eval.String(e, b, "release"),
		Distro:      eval.String(e, b, "distro"),
		Registry:    eval.String(e, b, "registry"),
		Prefix:      eval.String(e, b, "prefix"),
		Tag:         eval.String(e, b, "tag"),
		Images:      eval.Strings(e, b, "images"),
		PullSecrets: eval.List(e, b, "pull_secrets"),
		Namespace:   eval.String(e, b, "namespace"),
		Region:      eval.String(e, b, "region"),
		PodSecurity: eval.String(e, b, "pod_security"),
		Foreign:     eval.String(e, b, "foreign"),

		NetworkPolicy: eval.Bool(e, b, "network_policy"),
		Metrics:       scraping(e, b),

		Range:        b.Header,
		ReleaseRange: b.AttributeRange("release"),
		TagRange:     b.AttributeRange("tag"),
	}
	if l := b.One(schema.LoggingType.Name, ""); l != nil && eval.String(e, l, "mode") != schema.LogsNowhere {
		c.Logging, c.LogVolume = eval.String(e, l, "mode"), eval.String(e, l, "volume")
	}
	c.Distro = cmp.Or(c.Distro, releases.Named(c.Release).Distro())
	release := cty.UnknownVal(cty.String) // definitions have no values for an unsupported release
	if c.Release != "" {
		release = cty.StringVal(c.Release)
	}
	return c, cty.ObjectVal(map[string]cty.Value{
		"name":      cty.StringVal(c.Name),
		"release":   eval.Read(e, b, release, "release"),
		"distro":    eval.Read(e, b, cty.StringVal(c.Distro), "distro"),
		"registry":  eval.Read(e, b, cty.StringVal(c.Registry), "registry"),
		"logging":   cty.StringVal(cmp.Or(c.Logging, schema.LogsNowhere)),
		"namespace": eval.Read(e, b, cty.StringVal(c.Namespace), "namespace"),
		"region":    eval.Read(e, b, cty.StringVal(c.Region), "region"),
		"metrics":   cty.BoolVal(c.Metrics != nil),
		"scraping":  scrapingMode(e, b, c.Metrics),
	})
}

// scrapingMode returns how a Prometheus finds metrics: "none" without the block metrics.
func scrapingMode(e *eval.Env, cloud *source.Block, m *configs.Scraping) cty.Value {
	if m == nil {
		return cty.StringVal("none")
	}
	return eval.Read(e, cloud.One("metrics", ""), cty.StringVal(m.Mode), "mode")
}

// ownPrometheus are the labels of the pods of a service with this name.
var ownPrometheus = map[string]string{"app.kubernetes.io/name": "prometheus"}

// scraping evaluates the block metrics of the cloud. It returns nil without the block.
func scraping(e *eval.Env, cloud *source.Block) *configs.Scraping {
	b := cloud.One("metrics", "")
	if b == nil {
		return nil
	}
	out := &configs.Scraping{Mode: eval.String(e, b, "mode"), Labels: eval.Strings(e, b, "labels"), Range: b.Header}
	CheckMarks(e.Report, b, "labels", out.Labels)
	for _, a := range b.All("allow") {
		out.Allows = append(out.Allows, Who(e, a))
	}
	switch {
	case len(out.Allows) > 0:
	case out.Mode == configs.ScrapeServices:
		out.Allows = []configs.Allow{{Name: "prometheus", Pods: ownPrometheus}}
	case out.Mode == configs.ScrapeMonitors && eval.Bool(e, cloud, "network_policy"):
		e.Report.Error(b.Header, "No Prometheus is allowed", "NetworkPolicies keep every Prometheus out. Say which one may connect, with an `allow` block here, such as:\n\n  allow \"prometheus\" {\n    namespace = \"monitoring\"\n    pods      = { \"app.kubernetes.io/name\" = \"prometheus\" }\n  }")
	}
	return out
}

// Who evaluates the part of an allow block that selects clients.
func Who(e *eval.Env, b *source.Block) configs.Allow {
	a := configs.Allow{
		Name:      b.Label,
		Namespace: eval.String(e, b, "namespace"),
		Pods:      eval.Strings(e, b, "pods"),
		CIDRs:     eval.List(e, b, "cidrs"),
		Range:     RangeOf(b),
	}
	if !eval.IsSet(e, b, "namespace") && !eval.IsSet(e, b, "pods") && !eval.IsSet(e, b, "cidrs") {
		e.Report.Error(b.Header, "Nobody is allowed", "Say who may connect: namespace, pods or cidrs. For everybody, write cidrs = [\"0.0.0.0/0\", \"::/0\"].")
	}
	if eval.IsSet(e, b, "pods") && eval.AllKnown(e, b, "pods") && len(a.Pods) == 0 {
		e.Report.Error(b.AttributeRange("pods"), "Unsuitable value for \"pods\"", "It needs at least one label. For all pods of a namespace, leave it out and name the namespace.")
	}
	return a
}
