package schema

import (
	"slices"

	"kolla.openstack.org/kolla/lang/schema/forms"
)

// PlainLifecycleType describes the block `lifecycle` of definitions and secrets. It has no
// replace_triggered_by: a definition does not know the other services of the configuration,
// and a secret gets new values only on request.
var PlainLifecycleType = &BlockType{
	Name: "lifecycle", Single: true,
	Doc: "Rules for the objects. The more specific block wins: the workload of a service over the service, and the service over the definition.",
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

  # An autoscaler decides how many. A webhook of the cluster denies all dry runs.
  workload "api" {
    lifecycle {
      ignore_fields    = ["spec.replicas"]
      allow_unverified = true
    }
  }
}
`,
	Attributes: []Attribute{
		{Name: "prevent_destroy", Type: TypeBool, Default: false, Doc: "Whether kolla refuses a plan that would delete or replace one of the objects. Old versions of files, failed jobs, and StatefulSets that are replaced while their pods keep running do not count."},
		{Name: "ignore_fields", Type: TypeList, Form: forms.FieldPath, Doc: `Fields that kolla sets when it creates the object, and then leaves to others. A path includes everything below it, whether declared or added by others, such as ["spec.replicas", "metadata.annotations[\"example.org/*\"]"]. For the values of a Secret it applies once somebody else has written them.`},
		{Name: "yield_to", Type: TypeList, Form: forms.Plain, Doc: "Field managers that may change any field. Whoever may write to the object can choose the name of a field manager, so this trusts all of them; ignore_fields names fields instead. * at the end of a name matches the rest."},
		{Name: "force_conflicts", Type: TypeForce, Doc: "Fields that kolla takes from their owners when it takes over an object: true for all fields, or a list of paths and of names of field managers."},
		{Name: "allow_unverified", Type: TypeBool, Default: false, Doc: "Whether kolla writes an object although an admission policy or webhook denies its dry run, and accepts that it could not compare it. The plan then shows calculated changes. -allow-unverified accepts it for all objects."},
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
		Attribute{Name: TriggersName, Type: TypeReferences, Doc: `Replaces the workloads and jobs of the service, or the objects of the manifest, whenever a plan creates, changes or replaces any object of the listed blocks. The list has service.NAME, manifest.NAME, secret.NAME or module.NAME, with ["KEY"] or [each.key] for a repeated block, and addresses of objects in quotes. Each entry is a dependency too. If an apply ends before the replacement, or leaves it out, name the object with -replace; the next plan does not.`},
	),
	Blocks: PlainLifecycleType.Blocks,
}

var preconditionType = &BlockType{
	Name: "precondition",
	Doc:  "A condition that must hold; otherwise the plan fails.",
	Attributes: []Attribute{
		{Name: "condition", Type: TypeBool, Required: true, Doc: "An expression that is true if all is well. In a service, self is the service."},
		{Name: "error_message", Type: TypeText, Required: true, Doc: "Error message if the condition is false, as a whole sentence."},
	},
}

// TriggersName is the argument that names the triggers of a replacement.
const TriggersName = "replace_triggered_by"
