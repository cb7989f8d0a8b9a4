package schema

import "kolla.openstack.org/kolla/lang/schema/forms"

// PolicyFileType describes the top of a file of -policy.
var PolicyFileType = &BlockType{Blocks: []*BlockType{policyType}}

var policyType = &BlockType{
	Name: "policy", Label: "policy", LabelForm: forms.Identifier,
	Doc: "A rule for plans. kolla evaluates it for each plan, after the plan is made. The condition reads the plan as `plan`, beside variables, local values and everything else in the configuration. A condition that is not known, or that cannot be evaluated, counts as not met. [Policies](../policies.md) describes `plan` and has examples. Policies may also stand in files of their own, for `-policy=FILE`.",
	Example: `policy "no-data-loss" {
  condition     = length(plan.impact.data_at_risk) == 0
  error_message = "Data is lost: ${join(", ", [for e in plan.impact.data_at_risk : e.name])}."
}

policy "few-restarts" {
  condition     = length(plan.impact.restarts) <= 3
  error_message = "${length(plan.impact.restarts)} workloads restart at once."
  level         = "warn"
}
`,
	ReadAs: "plan",
	Reads: []Reading{
		{"cloud", "Name of the cloud."},
		{"namespace", "Namespace of the cloud."},
		{"destroy", "Whether the plan destroys the cloud."},
		{"refresh_only", "Whether the plan only updates the state."},
		{"restricted", "Whether -target, -exclude or -until restricts the plan."},
		{"upgrade", "The change of the OpenStack release: from, to, supported, backward and services. Without a change the releases are empty, and supported is true."},
		{"counts", "Numbers of the summary line: add, change, destroy, import, forget, move, prune, deferred."},
		{"actions", "List of the actions that change something."},
		{"impact", "Effects on services: restarts, stops, downtime, data_at_risk, cut_off, endpoints, jobs, rights, powers."},
		{"drift", "List of the fields that others changed."},
		{"not_compared", "Addresses of the objects that could not be compared."},
	},
	Attributes: []Attribute{
		{Name: "condition", Type: TypeBool, Required: true, Doc: "An expression that is true if the plan is acceptable."},
		{Name: "error_message", Type: TypeText, Required: true, Doc: "Message if the condition is false, as a whole sentence. It may name actions of the plan."},
		{Name: "level", Type: TypeString, Default: "deny", OneOf: []string{"deny", "warn"}, Doc: "Consequence if the condition is false. deny: `kolla plan` fails and `kolla apply` does nothing, unless `-override-policy` names the policy. warn: a warning."},
	},
}
