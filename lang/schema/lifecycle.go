package schema

import "slices"

var formFieldPath = Form{
	`the path of a field as plans show it, such as spec.replicas or spec.template.spec.containers["api"].image`,
	func(s string) bool {
		_, err := SplitFieldPath(s)
		return err == nil
	},
}

// PlainLifecycleType describes the block `lifecycle` of definitions and secrets. It has no
// replace_triggered_by: a definition does not know the other services of the configuration,
// and a secret gets new values only on request.
var PlainLifecycleType = &BlockType{
	Name: "lifecycle", Single: true,
	Doc: "How kolla treats the objects, beyond making them what is declared. What the more special block says counts: a service's workload over the service, the service over the definition.",
	Example: `service "keystone" {
  lifecycle {
    prevent_destroy = true
    ignore_fields   = ["metadata.annotations[\"example.org/*\"]"]
    yield_to        = ["acme-*"]
    force_conflicts = ["helm", "metadata.labels[\"app\"]"]

    precondition {
      condition     = length(role.control.nodes) >= self.replicas
      error_message = "There are fewer control nodes than pods."
    }
  }

  # An autoscaler decides how many.
  workload "api" {
    lifecycle {
      ignore_fields = ["spec.replicas"]
    }
  }
}
`,
	Attributes: []Attribute{
		{Name: "prevent_destroy", Type: TypeBool, Default: false, Doc: "A plan that would delete or replace one of the objects is refused. Old versions of files and jobs that failed are not meant."},
		{Name: "ignore_fields", Type: TypeList, Form: formFieldPath, Doc: `Fields that are set when the object is made and left to others from then on, each with everything below it, declared or added by others, such as ["spec.replicas", "metadata.annotations[\"example.org/*\"]"]. Of the values of a Secret: once somebody else has written them.`},
		{Name: "yield_to", Type: TypeList, Form: formPlain, Doc: "Field managers that may have any field. A field manager gives itself its name, so that this trusts everybody who may write to the object; ignore_fields names fields. * at the end of a name stands for any rest of it."},
		{Name: "force_conflicts", Type: TypeForce, Doc: "Fields to take from whoever owns them, of an object that kolla takes over: true for all, or a list of paths and of names of field managers."},
	},
	Blocks: []*BlockType{preconditionType},
}

// LifecycleType describes the block `lifecycle` of services, their workloads and manifests.
var LifecycleType = &BlockType{
	Name: PlainLifecycleType.Name, Single: true, Doc: PlainLifecycleType.Doc,
	Example: `# Its pods are made anew whenever something of the database changes.
service "keystone" {
  workload "api" {
    lifecycle {
      replace_triggered_by = [service.mariadb]
    }
  }
}
`,
	Attributes: append(slices.Clip(PlainLifecycleType.Attributes),
		Attribute{Name: TriggersName, Type: TypeReferences, Doc: `What the workloads and jobs of the service, or the objects of the manifest, are deleted and made again with: whenever a plan creates, changes or replaces any object of it. A list of service.NAME, manifest.NAME, secret.NAME or module.NAME, with ["KEY"] or [each.key] of a repeated one, and of addresses of objects in quotes. It is a dependency too. What an apply did not come to, or left out, the next one makes up for.`},
	),
	Blocks: PlainLifecycleType.Blocks,
}

var preconditionType = &BlockType{
	Name: "precondition",
	Doc:  "What must be so, or else there is an error.",
	Attributes: []Attribute{
		{Name: "condition", Type: TypeBool, Required: true, Doc: "True when all is well. Of a service, self is the service."},
		{Name: "error_message", Type: TypeText, Required: true, Doc: "What is wrong otherwise, as a whole sentence."},
	},
}

// TriggersName is the argument that names the triggers of a replacement.
const TriggersName = "replace_triggered_by"
