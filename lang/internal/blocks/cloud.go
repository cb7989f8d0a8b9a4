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
	})
}
