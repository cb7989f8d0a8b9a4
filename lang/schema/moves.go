package schema

import "kolla.openstack.org/kolla/lang/schema/forms"

var movedType = &BlockType{
	Name: "moved",
	Doc:  "Says that a declaration has a new address, so that kolla keeps the object. A block that gets or loses count needs it too: NAME and NAME[0] are two addresses. The name of an object comes from its service: if the name in the cluster changes too, kolla replaces the object anyway, and the plan says so.",
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
		{Name: "to", Type: TypeAddress, Required: true, Doc: "New address."},
	},
}

var removedType = &BlockType{
	Name: "removed",
	Doc:  "Says that something was removed from the configuration on purpose, and what may go with it. Deletions that it names do not count for the default limit of -max-deletes. If several blocks name an object, the most specific block decides.",
	Example: `# kolla forgets these objects, and they stay in the cluster.
removed {
  from = manifest.dashboards

  lifecycle {
    destroy = false
  }
}

# The service goes, and its generated passwords with it.
removed {
  from = service.heat

  lifecycle {
    delete_data = "generated"
  }
}

# This volume may go with its data.
removed {
  from = "manifest.mirror/PersistentVolumeClaim/mirror"

  lifecycle {
    delete_data = "all"
  }
}
`,
	Attributes: []Attribute{
		{Name: "from", Type: TypeAddress, Required: true, Doc: "Old address: a block (with all of its instances), one instance, a module, or an object's address in quotes."},
	},
	Blocks: []*BlockType{{
		Name: "lifecycle", Single: true, Doc: "What happens to the objects in the cluster.",
		Attributes: []Attribute{
			{Name: "destroy", Type: TypeBool, Default: true, Doc: "Whether kolla deletes the objects. If not, kolla only forgets them: they stay in the cluster as they are, without kolla's labels and annotations."},
			{Name: "delete_data", Type: TypeString, Default: "none", OneOf: []string{"none", "generated", "all"}, Doc: "Objects with data that kolla may delete, as the option -delete-data does for one command. none: a plan that would delete any is refused. generated: Secrets with values that kolla generated, such as passwords and keys. all: every object of `from`, also volumes and workloads with `loss`. A namespace with objects of others needs its own address in `from`. Volumes that a StatefulSet made stay in any case; the plan says how to delete them."},
		},
	}},
}

var importType = &BlockType{
	Name: "import",
	Doc:  "Takes over one existing object that kolla did not make, and changes it to match its declaration. Afterwards you can remove the block. If nothing declares the object yet, `kolla plan -generate-config-out=FILE` writes a manifest for it.",
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
		{Name: "for_each", Type: TypeAny, Value: "map or set of strings", Doc: "A map or a set of strings. Each element is one import; `to` and `id` read it as each.key and each.value."},
		{Name: "to", Type: TypeAddress, Required: true, Doc: `Address of the declared object, in quotes, such as "manifest.a/Deployment/b".`},
		{Name: "id", Type: TypeString, Required: true, Form: forms.Plain, Doc: "NAMESPACE/NAME of the object in the cluster, or NAME for kinds without namespaces."},
	},
}
