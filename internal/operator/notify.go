package operator

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"kolla.openstack.org/kolla/internal/operator/v1alpha1"
	"kolla.openstack.org/kolla/internal/run/notify"
)

// news is a change of a Cloud that people are told of.
type news struct{ reason, message string }

// notify sends the news of a look to the receivers of the Cloud. A receiver that cannot be reached is
// logged: the status has the same.
func (w *work) notify(ctx context.Context) {
	if len(w.news) == 0 || len(w.cloud.Spec.Notify) == 0 {
		return
	}
	var urls []string
	for _, ref := range w.cloud.Spec.Notify {
		data, err := objects{w.Reader, w.cloud.Namespace}.Secret(ctx, ref.Name)
		if err != nil {
			w.Log.Error("nobody is notified", "cloud", keyOf(w.cloud), "error", err)
			continue
		}
		for _, key := range slices.Sorted(maps.Keys(data)) {
			urls = append(urls, strings.TrimSpace(string(data[key])))
		}
	}
	receivers, err := notify.Receivers(urls)
	if err != nil {
		w.Log.Error("nobody is notified", "cloud", keyOf(w.cloud), "error", err)
		return
	}
	for _, n := range w.news {
		title := fmt.Sprintf("Cloud %s: %s", keyOf(w.cloud), titleOf(n.reason))
		for _, r := range receivers {
			if err := r.Send(ctx, title, n.message); err != nil {
				w.Log.Error("a receiver is not notified", "cloud", keyOf(w.cloud), "error", err)
			}
		}
	}
}

// titles are the reasons of conditions in words.
var titles = map[string]string{
	v1alpha1.ReasonAsDeclared:       "as declared",
	v1alpha1.ReasonAwaitsApproval:   "a plan waits for approval",
	v1alpha1.ReasonOtherPlan:        "a plan waits, and another one is approved",
	v1alpha1.ReasonPlanFailed:       "no plan can be made",
	v1alpha1.ReasonRefused:          "a plan is refused",
	v1alpha1.ReasonApplyFailed:      "an apply failed",
	v1alpha1.ReasonInterrupted:      "an apply was interrupted",
	v1alpha1.ReasonNotReady:         "services are not ready",
	v1alpha1.ReasonDrift:            "others changed objects",
	v1alpha1.ReasonSourceFailed:     "the source cannot be fetched",
	v1alpha1.ReasonInvalidSource:    "the configuration has errors",
	v1alpha1.ReasonInvalidVariables: "variables cannot be read",
	v1alpha1.ReasonTakenOver:        "somebody took it over",
	v1alpha1.ReasonSuspended:        "suspended",
}

func titleOf(reason string) string {
	if title, ok := titles[reason]; ok {
		return title
	}
	return reason
}
