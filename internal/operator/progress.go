package operator

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kolla.openstack.org/kolla/internal/operator/v1alpha1"
	"kolla.openstack.org/kolla/internal/present/report/applied"
	"kolla.openstack.org/kolla/planner/plans"
)

// progress is how far an apply is.
type progress struct {
	mu            sync.Mutex
	all, finished int
	waits         map[string]string // by address
}

func progressOf(plan *plans.Plan) *progress {
	p := &progress{waits: map[string]string{}}
	for i := range plan.Actions {
		if applied.Concerns(&plan.Actions[i]) {
			p.all++
		}
	}
	return p
}

func (p *progress) observe(e plans.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch address := e.Action.Address.String(); e.Kind {
	case plans.Waiting:
		p.waits[address] = e.Status
	case plans.Done, plans.Failed, plans.Skipped, plans.Interrupted:
		delete(p.waits, address)
		if applied.Concerns(e.Action) {
			p.finished++
		}
	}
}

// text says how many actions are done, and what the others wait for.
func (p *progress) text() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	lines := []string{fmt.Sprintf("%d of %d done", p.finished, p.all)}
	for _, address := range slices.Sorted(maps.Keys(p.waits)) {
		if p.waits[address] != "" {
			lines = append(lines, address+": "+p.waits[address])
		}
	}
	return strings.Join(lines, "\n")
}

// progressPause is the time between two changes of the status during an apply.
const progressPause = 5 * time.Second

// tell writes the progress of the apply of a plan into the status, until the returned function is called. Nobody else
// may use the Cloud in between.
func (w *work) tell(ctx context.Context, name string, p *progress) (stop func()) {
	ended := make(chan struct{})
	var group sync.WaitGroup
	group.Go(func() {
		tick := time.NewTicker(progressPause)
		defer tick.Stop()
		for {
			select {
			case <-ended:
				return
			case <-tick.C:
				w.set(v1alpha1.Reconciling, metav1.ConditionTrue, v1alpha1.ReasonApplying, "Applying "+name+": "+p.text())
				if err := w.save(ctx); err != nil && ctx.Err() == nil {
					w.Log.Warn("the progress of an apply was not written", "error", err)
				}
			}
		}
	})
	return func() {
		close(ended)
		group.Wait()
	}
}
