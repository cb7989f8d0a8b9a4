package lang_test

import (
	"bytes"
	"path/filepath"
	"testing"

	"kolla.openstack.org/kolla/internal/dev/golden"
	"kolla.openstack.org/kolla/lang"
	"kolla.openstack.org/kolla/lang/configs"
)

// TestPolicies compares the diagnostics of policies, in the configuration and in the files
// that files.txt names, and the verdicts about a plan.
func TestPolicies(t *testing.T) {
	const root = "testdata/policies"
	facts := configs.PlanFacts{
		Cloud: "c", Counts: configs.PlanCounts{Destroy: 1},
		Actions: []configs.ActionFacts{{Address: "service.x/Service/x", Verb: "delete"}, {Address: "service.y/Service/y", Verb: "create"}},
	}
	for _, name := range cases(t, root) {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(root, name)
			options := lang.Options{Catalogue: smallCatalogue()}
			for _, file := range lines(t, filepath.Join(dir, "files.txt")) {
				options.PolicyFiles = append(options.PolicyFiles, filepath.Join(dir, file))
			}
			config, diags := lang.Load(dir, options)
			if !diags.HasErrors() {
				for _, p := range config.Policies {
					if found := p.Judge(facts); found != nil {
						diags = append(diags, found)
					}
				}
			}
			got := bytes.ReplaceAll(render(diags, dir), []byte(dir+"/"), nil)
			golden.Compare(t, filepath.Join(dir, "want.txt"), got)
			checkDiagnostics(t, diags, config.Files)
			if bytes.Contains(got, []byte("hunter2")) {
				t.Error("a sensitive value is shown")
			}
		})
	}
}

// TestPolicyFilesAreNotDigested checks that a plan can be applied with other policies than
// it was made with.
func TestPolicyFilesAreNotDigested(t *testing.T) {
	dir := "testdata/policies/judged"
	with, diags := lang.Load(dir, lang.Options{Catalogue: smallCatalogue(), PolicyFiles: []string{filepath.Join(dir, "org.policies")}})
	without, more := lang.Load(dir, lang.Options{Catalogue: smallCatalogue()})
	if diags.HasErrors() || more.HasErrors() || len(with.Policies) != len(without.Policies)+1 || with.Digest != without.Digest {
		t.Errorf("%d policies with a file, %d without; digests %s and %s", len(with.Policies), len(without.Policies), with.Digest, without.Digest)
	}
}
