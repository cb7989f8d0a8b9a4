package schema

import "kolla.openstack.org/kolla/lang/schema/forms"

// Blocks returns the types of blocks that may stand at the top of a file.
func Blocks() []*BlockType { return FileType.Blocks }

// FileType describes the top of all files of a configuration together.
var FileType = &BlockType{Blocks: []*BlockType{
	cloudType, variableType, localsType, roleType, exposureType, dataType, SharedSecretType, ServiceType, DefinitionType, manifestType,
	ModuleType, rootOutputType, checkType, policyType, movedType, removedType, importType,
}}

// CatalogueType describes the top of a file of the catalogue.
var CatalogueType = &BlockType{Blocks: []*BlockType{DefinitionType, localsType}}

var variableType = &BlockType{
	Name: "variable", Label: "variable", LabelForm: forms.Identifier,
	Doc: "A value that comes from outside the configuration: from -var, -var-file, kolla.vars.hcl, *.auto.vars.hcl or KOLLA_VAR_name. Expressions read it as var.NAME.",
	Example: `variable "workers" {
  type        = object({ pods = number, processes = optional(number, 4) })
  default     = { pods = 2 }
  description = "How many pods, and how many requests each answers at a time."
  nullable    = false

  validation {
    condition     = var.workers.pods * var.workers.processes <= 64
    error_message = "The database does not take more connections."
  }
}

variable "smtp_password" {
  type      = string
  default   = null
  sensitive = true
}
`,
	ReadAs: "var.NAME",
	Attributes: []Attribute{
		{Name: "type", Type: TypeConstraint, Doc: "Type constraint, such as string, number, list(string) or object({ a = string, b = optional(number, 1) }). By default the variable takes any value."},
		{Name: "default", Type: TypeAny, Doc: "Value of the variable if none is given. A variable without a default needs a value."},
		{Name: "description", Type: TypeLiteral, Doc: "Purpose of the variable."},
		{Name: "sensitive", Type: TypeBool, Default: false, Doc: "Whether kolla hides the value: it never shows and never stores it."},
		{Name: "nullable", Type: TypeBool, Default: true, Doc: "Whether the value may be null. If not, null selects the default."},
	},
	Blocks: []*BlockType{{
		Name: "validation",
		Doc:  "A condition that the value must meet.",
		Attributes: []Attribute{
			{Name: "condition", Type: TypeBool, Required: true, Doc: "An expression that is true if the value is valid. It may refer to anything that does not depend on the variable."},
			{Name: "error_message", Type: TypeText, Required: true, Doc: "Error message if the condition is false, as a whole sentence."},
		},
	}},
}

var localsType = &BlockType{
	Name: "locals", AnyAttribute: true,
	Doc: "Names for expressions: local.NAME reads the argument NAME. The arguments may refer to each other in any order.",
	Example: `locals {
  control_nodes = [for n in range(1, 4) : "ctl-${n}"]
  replicas      = length(local.control_nodes)
}
`,
	ReadAs: "local.NAME",
}

var dataType = &BlockType{
	Name: "data", Label: "data", LabelForm: forms.Identifier,
	Example: `data "zone" {
  kind   = "Node"
  labels = { "topology.kubernetes.io/zone" = "a" }
}

data "registry" {
  kind        = "ConfigMap"
  api_version = "v1"
  name        = "registry"
  namespace   = "tools"
  optional    = true
  depends_on  = [service.mariadb]

  lifecycle {
    postcondition {
      condition     = !self.exists || can(self.object.data["host"])
      error_message = "The registry has no host."
    }
  }
}
`,
	Doc: "Objects that exist in the cluster. kolla reads them when it makes a plan. With `name`, data.NAME.object is the object as the server has it: data.NAME.object.data[\"KEY\"] of a ConfigMap, data.NAME.object.spec.clusterIP of a Service. With `labels`, data.NAME.objects is a list. The values of a Secret are decoded and sensitive; binary values are under binaryData, in base64. If a service or manifest of this configuration makes the object, and the object does not exist yet or the plan changes it, its content is known after the apply: see depends_on.",
	Attributes: withRepetition([]Attribute{
		{Name: "kind", Type: TypeString, Required: true, Form: forms.Plain, Doc: "Kind of the object, such as ConfigMap."},
		{Name: "api_version", Type: TypeString, Form: forms.Plain, Doc: "API version of the object, such as apps/v1. It may be left out if the server has only one kind of that name."},
		{Name: "name", Type: TypeString, Form: forms.Plain, Doc: "Name of the object. The block needs either name or labels."},
		{Name: "namespace", Type: TypeString, Form: forms.Namespace, Doc: "Namespace of the object; by default the cloud's, for kinds that live in namespaces."},
		{Name: "labels", Type: TypeMap, Form: forms.LabelValue, Doc: "Labels of the objects to read. data.NAME.objects is a list of them, sorted by namespace and name. With {} it has all objects of the kind."},
		{Name: "optional", Type: TypeBool, Default: false, Doc: "Whether the object may be missing. If it is, data.NAME.object is null and data.NAME.exists is false."},
		{Name: "depends_on", Type: TypeReferences, Doc: "Blocks that make the object. Until they are applied, the content is known only after the apply."},
	}),
	Blocks: []*BlockType{{
		Name: "lifecycle", Single: true,
		Doc: "Conditions that the content must meet.",
		Blocks: []*BlockType{{
			Name: "postcondition",
			Doc:  "A condition that must hold; otherwise the plan fails. In the block, self is the content.",
			Attributes: []Attribute{
				{Name: "condition", Type: TypeBool, Required: true, Doc: "An expression that is true if all is well."},
				{Name: "error_message", Type: TypeText, Required: true, Doc: "Error message if the condition is false, as a whole sentence."},
			},
		}},
	}},
}

// ModuleType describes the block `module`, which uses the files of another directory.
var ModuleType = &BlockType{
	Name: "module", Label: "module", LabelForm: forms.Identifier, AnyAttribute: true,
	Doc: "A directory with definitions, services, roles and so on that becomes a part of this configuration. The other arguments are the values of its variables. Expressions read its outputs as module.NAME.OUTPUT.",
	Example: `module "edge" {
  source     = "./edge"
  for_each   = { west = 2, east = 1 }
  depends_on = [service.keystone]

  role     = role.compute
  replicas = each.value
}

output "edges" {
  value = { for name, edge in module.edge : name => edge.address }
}
`,
	ReadAs: "module.NAME",
	Attributes: append([]Attribute{
		{Name: "source", Type: TypeLiteral, Required: true, Doc: "Path of the directory, relative to the file. It starts with ./ or ../."},
		{Name: "depends_on", Type: TypeReferences, Doc: "Blocks that must be ready before any service or manifest of the module starts."},
	}, Repetition...),
}

var rootOutputType = &BlockType{
	Name: "output", Label: "output", LabelForm: forms.Identifier,
	Doc: "A value that `kolla output` prints. The caller of a module reads it as module.NAME.OUTPUT.",
	Example: `output "identity" {
  value       = service.keystone.public_url
  description = "Where clients log in."

  precondition {
    condition     = service.keystone.replicas > 0
    error_message = "Nobody could log in."
  }
}

output "admin_password" {
  value     = service.keystone.admin_password
  sensitive = true
}
`,
	Attributes: []Attribute{
		{Name: "value", Type: TypeAny, Required: true, Doc: "The value."},
		{Name: "description", Type: TypeLiteral, Doc: "Description of the output."},
		{Name: "sensitive", Type: TypeBool, Default: false, Doc: "Whether kolla hides the value. An output with a sensitive value needs it."},
	},
	Blocks: []*BlockType{preconditionType},
}

var checkType = &BlockType{
	Name: "check", Label: "check", LabelForm: forms.Identifier,
	Doc: "Assertions about the cloud. If one does not hold, kolla warns; it stops nothing.",
	Example: `check "spread" {
  assert {
    condition     = service.keystone.replicas <= length(role.control.nodes)
    error_message = "There are more pods of Keystone than control nodes."
  }
}
`,
	Blocks: []*BlockType{assertType},
}

var assertType = &BlockType{
	Name: "assert",
	Doc:  "A condition that should hold.",
	Attributes: []Attribute{
		{Name: "condition", Type: TypeBool, Required: true, Doc: "An expression that is true if all is well."},
		{Name: "error_message", Type: TypeText, Required: true, Doc: "Warning if the condition is false, as a whole sentence."},
	},
}

// DynamicType describes the block `dynamic`, which stands for any number of blocks of another
// type. Its label names the type, and its block content is the content of each of them.
var DynamicType = &BlockType{
	Name: "dynamic", Label: "block type",
	Doc: "Generates nested blocks of the type in the label, one for each element of for_each. Expressions in content read the element as TYPE.key and TYPE.value.",
	Example: `locals {
  debugged = { "keystone.conf" = "DEBUG" }
}

service "keystone" {
  dynamic "config" {
    for_each = local.debugged
    iterator = file
    labels   = [file.key]

    content {
      values = { DEFAULT = { default_log_levels = "keystone=${file.value}" } }
    }
  }
}
`,
	Attributes: []Attribute{
		{Name: "for_each", Type: TypeAny, Value: "list, set or map", Required: true, Doc: "A list, set, map or object."},
		{Name: "iterator", Type: TypeReferences, Value: "name without quotes", Doc: "Name of the element in expressions; by default the type of the block."},
		{Name: "labels", Type: TypeList, Doc: "Label of each generated block, as a list of one element, for types that have a label."},
	},
	Blocks: []*BlockType{{Name: "content", Single: true, Doc: "Content of each generated block."}},
}

// DynamicNames returns the types of blocks that a dynamic block inside of a block of this type
// can stand for.
func (t *BlockType) DynamicNames() []string {
	var out []string
	for _, b := range t.Blocks {
		if t.Name != "" && !b.IsStatic() {
			out = append(out, b.Name)
		}
	}
	return out
}

// IsStatic reports whether no dynamic block can stand for blocks of the type.
func (t *BlockType) IsStatic() bool {
	return t.Name == LifecycleType.Name || t == InputType || t == OwnLocalsType || t == OwnCheckType || t == backendType || t == cloudMetricsType || t == scraperType
}
