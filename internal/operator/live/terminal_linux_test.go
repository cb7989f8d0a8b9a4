package live_test

import (
	"os"
	"strings"
	"testing"

	"kolla.openstack.org/kolla/internal/cli"
	"kolla.openstack.org/kolla/internal/dev/clustertest"
	"kolla.openstack.org/kolla/internal/dev/ptytest"
	"kolla.openstack.org/kolla/internal/operator/v1alpha1"
)

// dialogue is a command line with a person at the terminal.
type dialogue struct {
	*ptytest.Terminal
	t    *testing.T
	code chan int
}

func (b *bench) dialogue(t *testing.T, args ...string) *dialogue {
	t.Helper()
	t.Setenv("KUBECONFIG", clustertest.Kubeconfig())
	d := &dialogue{ptytest.Open(t), t, make(chan int, 1)}
	go func() {
		d.code <- cli.Run(t.Context(), append([]string{"kolla"}, args...), d.Program, &d.Screen, &d.Screen)
	}()
	return d
}

// ends waits for the end of the command line, and checks what it said last.
func (d *dialogue) ends(want int, says string) {
	d.t.Helper()
	if got := <-d.code; got != want || !strings.Contains(strings.Join(strings.Fields(d.Screen.String()), " "), says) {
		d.t.Fatalf("exit code %d, want %d and %q:\n%s", got, want, says, d.Screen.String())
	}
}

// TestApproveOnTerminal answers no, answers for a plan that changed meanwhile, and answers yes.
func TestApproveOnTerminal(t *testing.T) {
	b := newBench(t)
	b.files("files", configuration)
	b.start()
	b.cloud("")
	b.until(v1alpha1.ReasonAwaitsApproval)
	const question = "Do you want the operator to do this?"
	approve := func() *dialogue { return b.dialogue(t, "operator", "approve", "-n", b.namespace, "prod") }

	no := approve()
	no.After(t, question, "no\n")
	no.ends(1, "Not approved")

	first := b.get().Status.Plan.Digest
	late := approve()
	late.Sees(t, question)
	b.files("files", changed("bonjour"))
	clustertest.Eventually(t, "there is another plan", func() bool {
		plan := b.get().Status.Plan
		return plan != nil && plan.Digest != first
	})
	late.After(t, question, "yes\n")
	late.ends(1, "Cloud prod has another plan by now")
	if cloud := b.get(); cloud.Spec.ApprovedPlan != "" || b.note() != "" {
		t.Errorf("approvedPlan is %q, and the ConfigMap has %q", cloud.Spec.ApprovedPlan, b.note())
	}

	yes := approve()
	yes.Sees(t, question)
	// The Cloud changes, and its plan does not.
	b.kubectl("annotate", "cloud", "prod", "-n", b.namespace, v1alpha1.AnnotationReconcile+"=now")
	yes.After(t, question, "yes\n")
	yes.ends(0, "Approved prod-2")
	b.until(v1alpha1.ReasonAsDeclared)
	if b.note() != "bonjour" {
		t.Errorf("the ConfigMap has %q", b.note())
	}
}

// TestApplyOffersSource lets a person write the files of the directory into the source instead of taking the
// cloud over.
func TestApplyOffersSource(t *testing.T) {
	b := newBench(t)
	b.start()
	b.applied("  approval: automatic\n")
	b.configured(changed("bonjour"))
	if err := os.WriteFile("kolla.vars.hcl", []byte("# somebody's own\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	const offer, last = "Do you want to write this into the source, for the operator?", "Do you want to take the cloud over?"

	no := b.dialogue(t, "apply")
	no.After(t, offer, "no\n")
	no.After(t, last, "no\n")
	no.ends(1, "Not approved")
	if shown := no.Screen.String(); !strings.Contains(shown, `-   default = "hello"`) || !strings.Contains(shown, `+   default = "bonjour"`) {
		t.Errorf("the difference is not shown:\n%s", shown)
	}

	late := b.dialogue(t, "apply")
	late.Sees(t, offer)
	b.kubectl("label", "configmap", "files", "-n", b.namespace, "changed=meanwhile")
	late.After(t, offer, "yes\n")
	late.ends(1, "The ConfigMap files changed meanwhile")
	if b.note() != "hello" {
		t.Errorf("the ConfigMap has %q", b.note())
	}

	yes := b.dialogue(t, "apply")
	yes.After(t, offer, "yes\n")
	yes.ends(0, "The source has the change")
	clustertest.Eventually(t, "the operator applies it", func() bool { return b.note() == "bonjour" })
	if got := b.state().Operator(); got != b.namespace+"/prod" {
		t.Errorf("the cloud is in the hands of %q", got)
	}
	if got := b.kubectl("get", "configmap", "files", "-n", b.namespace, "-o", "jsonpath={.data}"); strings.Contains(got, "vars.hcl") {
		t.Errorf("the source has values of variables: %s", got)
	}

	same := b.dialogue(t, "apply")
	same.After(t, last, "no\n")
	same.ends(1, "The files of the ConfigMap files are those of this directory.")
}
