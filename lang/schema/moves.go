package schema

var movedType = &BlockType{
	Name: "moved",
	Doc:  "Says that what was declared under one address is now declared under another, so that it is not deleted and made again. That NAME is NAME[0] once it has a count, and the other way round, need not be said, unless volumes would stay behind. An object is named after its service: where the name of the object in the cluster changes too, it is made again all the same, and the plan says so.",
	Example: `# The block was called differently; its objects keep their names.
manifest "quotas" {
  files = ["manifests/*.yaml"]
}

moved {
  from = manifest.quota
  to   = manifest.quotas
}

# It was a block of its own, and is now one of several.
service "redis" {
  for_each   = toset(["cache"])
  definition = "memcached"
  name       = "redis"
}

moved {
  from = service.redis
  to   = service.redis["cache"]
}
`,
	Attributes: []Attribute{
		{Name: "from", Type: TypeAddress, Required: true, Doc: `What it was: service.NAME, manifest.NAME, role.NAME, secret.NAME or module.NAME, with ["KEY"] of a repeated one, or an object's address in quotes, such as "manifest.a/Deployment/b". A block without a key is the one without, where ` + "`to`" + ` has a key, and else all of its instances.`},
		{Name: "to", Type: TypeAddress, Required: true, Doc: "What it is now."},
	},
}

var removedType = &BlockType{
	Name: "removed",
	Doc:  "Says that something was taken out of the configuration on purpose.",
	Example: `removed {
  from = manifest.dashboards

  lifecycle {
    destroy = false
  }
}
`,
	Attributes: []Attribute{
		{Name: "from", Type: TypeAddress, Required: true, Doc: "What it was: a block, which is all of its instances, one instance, a module, or an object's address in quotes."},
	},
	Blocks: []*BlockType{{
		Name: "lifecycle", Single: true, Doc: "What becomes of it in the cluster.",
		Attributes: []Attribute{
			{Name: "destroy", Type: TypeBool, Default: true, Doc: "Whether it is deleted. If not, kolla only forgets it: it stays in the cluster as it is, without kolla's labels and annotations."},
		},
	}},
}

var importType = &BlockType{
	Name: "import",
	Doc:  "Takes over one object that exists and was not made by kolla, and makes it what is declared. Once that is done the block has no effect and can go. Where nothing declares it yet, `kolla plan -generate-config-out=FILE` writes a manifest of it.",
	Example: `manifest "settings" {
  object = {
    apiVersion = "v1"
    kind       = "ConfigMap"
    metadata   = { name = "settings" }
  }
}

import {
  to = "manifest.settings/ConfigMap/settings"
  id = "openstack/settings"
}

# Several at once.
manifest "page" {
  for_each = toset(["about", "help"])
  object = {
    apiVersion = "v1"
    kind       = "ConfigMap"
    metadata   = { name = each.key }
  }
}

import {
  for_each = toset(["about", "help"])
  to       = "manifest.page[\"${each.key}\"]/ConfigMap/${each.key}"
  id       = "openstack/${each.key}"
}
`,
	Attributes: []Attribute{
		{Name: "for_each", Type: TypeAny, Value: "map or set of strings", Doc: "A map or a set of strings: one import for each element, which `to` and `id` read as each.key and each.value."},
		{Name: "to", Type: TypeAddress, Required: true, Doc: `Address of the declared object, in quotes, such as "manifest.a/Deployment/b".`},
		{Name: "id", Type: TypeString, Required: true, Form: formPlain, Doc: "NAMESPACE/NAME of the object in the cluster, or NAME of one that is in no namespace."},
	},
}
