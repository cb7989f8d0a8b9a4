package schema

// Blocks are the types of blocks that may stand at the top of a file.
func Blocks() []*BlockType { return FileType.Blocks }

// FileType describes the top of all files of a configuration together.
var FileType = &BlockType{Blocks: []*BlockType{
	cloudType, variableType, localsType, roleType, exposureType, dataType, SharedSecretType, ServiceType, DefinitionType, manifestType,
	ModuleType, rootOutputType, checkType, movedType, removedType, importType,
}}

// CatalogueType describes the top of a file of the catalogue.
var CatalogueType = &BlockType{Blocks: []*BlockType{DefinitionType, localsType}}

var variableType = &BlockType{
	Name: "variable", Label: "variable", LabelForm: formIdentifier,
	Doc: "A value that is given from outside: -var, -var-file, kolla.vars.hcl, *.auto.vars.hcl, KOLLA_VAR_name. Read as var.NAME.",
	Example: `variable "workers" {
  type        = object({ processes = number, threads = optional(number, 2) })
  default     = { processes = 4 }
  description = "How many requests a pod answers at a time."
  nullable    = false

  validation {
    condition     = var.workers.processes * var.workers.threads <= 64
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
		{Name: "type", Type: TypeConstraint, Doc: "Type constraint, such as string, number, list(string), object({ a = string, b = optional(number, 1) }). Without one, any value."},
		{Name: "default", Type: TypeAny, Doc: "Value when none is given. Without it a value must be given."},
		{Name: "description", Type: TypeLiteral, Doc: "What the variable is for."},
		{Name: "sensitive", Type: TypeBool, Default: false, Doc: "The value is never shown and never stored."},
		{Name: "nullable", Type: TypeBool, Default: true, Doc: "Whether null is a value. If not, null means the default."},
	},
	Blocks: []*BlockType{{
		Name: "validation",
		Doc:  "A condition that the value must meet.",
		Attributes: []Attribute{
			{Name: "condition", Type: TypeBool, Required: true, Doc: "True when the value is good. It may refer to anything that does not depend on the variable."},
			{Name: "error_message", Type: TypeText, Required: true, Doc: "What is wrong otherwise, as a whole sentence."},
		},
	}},
}

var localsType = &BlockType{
	Name: "locals", AnyAttribute: true,
	Doc: "Names for expressions: every argument NAME is read as local.NAME. They may refer to each other in any order.",
	Example: `locals {
  control_nodes = [for n in range(1, 4) : "ctl-${n}"]
  replicas      = length(local.control_nodes)
}
`,
	ReadAs: "local.NAME",
}

var dataType = &BlockType{
	Name: "data", Label: "data", LabelForm: formIdentifier,
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
	Doc: "Objects that are in the cluster, read when a plan is made. One with a name is data.NAME.object, as the server has it: data.NAME.object.data[\"KEY\"] of a ConfigMap, data.NAME.object.spec.clusterIP of a Service. With labels it is a list, data.NAME.objects. Values of a Secret are decoded, and are sensitive; those that are no text are under binaryData, in base64. What a service or manifest of this configuration makes, and is not there yet or is changed by the plan, is known after the apply: see depends_on.",
	Attributes: withRepetition([]Attribute{
		{Name: "kind", Type: TypeString, Required: true, Form: formPlain, Doc: "Kind of the object, such as ConfigMap."},
		{Name: "api_version", Type: TypeString, Form: formPlain, Doc: "Its group and version, such as apps/v1. It may be left out where the server has only one kind of that name."},
		{Name: "name", Type: TypeString, Form: formPlain, Doc: "Its name. One of name and labels says what is read."},
		{Name: "namespace", Type: TypeString, Form: FormNamespace, Doc: "Its namespace; by default the cloud's, for kinds that live in namespaces."},
		{Name: "labels", Type: TypeMap, Form: formLabelValue, Doc: "Labels that the objects have, in place of a name: data.NAME.objects is the list of them, by namespace and name. Of {} it is all objects."},
		{Name: "optional", Type: TypeBool, Default: false, Doc: "Whether the object may be missing: data.NAME.object is null then, and data.NAME.exists false."},
		{Name: "depends_on", Type: TypeReferences, Doc: "What makes the object. As long as that is not applied, what is read is known only after the apply."},
	}),
	Blocks: []*BlockType{{
		Name: "lifecycle", Single: true,
		Doc: "What has to be true of what was read.",
		Blocks: []*BlockType{{
			Name: "postcondition",
			Doc:  "What must be so, or else there is an error. In it, self is what was read.",
			Attributes: []Attribute{
				{Name: "condition", Type: TypeBool, Required: true, Doc: "True when all is well."},
				{Name: "error_message", Type: TypeText, Required: true, Doc: "What is wrong otherwise, as a whole sentence."},
			},
		}},
	}},
}

// ModuleType describes the block `module`, which uses the files of another directory.
var ModuleType = &BlockType{
	Name: "module", Label: "module", LabelForm: formIdentifier, AnyAttribute: true,
	Doc: "A directory with definitions, services, roles and so on, used as a part of this configuration. All other arguments are the values of its variables. Its outputs are read as module.NAME.OUTPUT.",
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
		{Name: "source", Type: TypeLiteral, Required: true, Doc: "The directory, relative to the file's: it starts with ./ or ../."},
		{Name: "depends_on", Type: TypeReferences, Doc: "What must be ready before any service or manifest of the module starts."},
	}, Repetition...),
}

var rootOutputType = &BlockType{
	Name: "output", Label: "output", LabelForm: formIdentifier,
	Doc: "A value that `kolla output` prints. The caller of a module reads its outputs as module.NAME.OUTPUT.",
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
		{Name: "description", Type: TypeLiteral, Doc: "What it is."},
		{Name: "sensitive", Type: TypeBool, Default: false, Doc: "The value is never shown. It must be said where the value comes from one that is sensitive."},
	},
	Blocks: []*BlockType{preconditionType},
}

var checkType = &BlockType{
	Name: "check", Label: "check", LabelForm: formIdentifier,
	Doc: "Assertions about the cloud. Where one does not hold there is a warning, and nothing is held up.",
	Example: `check "spread" {
  assert {
    condition     = service.keystone.replicas <= length(role.control.nodes)
    error_message = "There are more pods of Keystone than control nodes."
  }
}
`,
	Blocks: []*BlockType{{
		Name: "assert",
		Doc:  "What should be so.",
		Attributes: []Attribute{
			{Name: "condition", Type: TypeBool, Required: true, Doc: "True when all is well."},
			{Name: "error_message", Type: TypeText, Required: true, Doc: "What is wrong otherwise, as a whole sentence."},
		},
	}},
}

// DynamicType describes the block `dynamic`, which stands for any number of blocks of another
// type. Its label names the type, and its block content is the content of each of them.
var DynamicType = &BlockType{
	Name: "dynamic", Label: "block type",
	Doc: "Stands inside of another block for blocks of the type that the label names, one for each element of for_each. Expressions in content read the element as TYPE.key and TYPE.value.",
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
		{Name: "iterator", Type: TypeReferences, Value: "name without quotes", Doc: "Name for the element, in place of the type of the block."},
		{Name: "labels", Type: TypeList, Doc: "Label of each block, as a list of one, for types that have a label."},
	},
	Blocks: []*BlockType{{Name: "content", Single: true, Doc: "What stands in each of the blocks."}},
}

// DynamicNames are the types of blocks that a dynamic block inside of a block of this type
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
	return t.Name == LifecycleType.Name || t == InputType || t == OwnLocalsType
}
