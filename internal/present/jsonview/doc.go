// Package jsonview writes for programs: plans, diagnostics of a configuration, and events of
// a plan or an apply. The formats are Terraform's, so that its tools can read them, with
// additions under the key "kolla". Secret values are never written.
package jsonview
