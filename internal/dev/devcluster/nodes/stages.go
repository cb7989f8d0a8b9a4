package nodes

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/kwok/pkg/apis/internalversion"
)

// The annotations by which a test steers a simulated pod (usually from the pod
// template of its workload) or node.
const (
	// OutcomeAnnotation sets the outcome of a pod or node; see the outcomes.
	OutcomeAnnotation = "devcluster.kolla/outcome"
	// DelayAnnotation sets the delay of the outcome, as a Go duration ("5s", "1m").
	DelayAnnotation = "devcluster.kolla/delay"
	// MessageAnnotation is the message of a container that fails.
	MessageAnnotation = "devcluster.kolla/message"
	// LogsAnnotation is the log of the containers.
	LogsAnnotation = "devcluster.kolla/logs"
)

// The outcomes. Without one a pod of a Job succeeds and any other becomes ready.
const (
	OutcomeOK        = "ok"
	OutcomeFail      = "fail"
	OutcomeCrash     = "crash"
	OutcomeImagePull = "image-pull"
	OutcomeNotReady  = "not-ready"
	// OutcomeSilent is of a pod whose node is gone: nothing reports how it is, and nothing ends it.
	OutcomeSilent = "silent"
)

// Conditions on a pod or node, as jq expressions. Each stage below leaves its
// object in a state that the stage itself does not match, or it would be
// played again and again.
const (
	outcome   = `.metadata.annotations["` + OutcomeAnnotation + `"]`
	delay     = `.metadata.annotations["` + DelayAnnotation + `"]`
	ofJob     = `any(.metadata.ownerReferences[]?; .kind == "Job")`
	deleted   = `.metadata.deletionTimestamp`
	phase     = `.status.phase`
	ready     = `.status.conditions[]? | select(.type == "Ready") | .status`
	waiting   = `.status.containerStatuses[]? | .state.waiting.reason`
	restarts  = `.status.containerStatuses[]? | .restartCount | tostring`
	container = `.status.containerStatuses[0].state`
	policy    = `.spec.restartPolicy`

	// startsSlowly holds for a pod that is to be seen running before it is ready.
	startsSlowly = `(` + delay + ` != null) and .status.phase == "Pending"`
	// A container that fails is started again for ever where the pod says so.
	crashes = `(` + outcome + ` == "` + OutcomeCrash + `") or (` + outcome + ` == "` + OutcomeFail + `" and ` + policy + ` == "Always")`
	fails   = `(` + outcome + ` == "` + OutcomeFail + `") and ` + policy + ` != "Always"`
	// ends holds for a pod whose containers run for a while and then end.
	ends = `((` + ofJob + `) and (` + outcome + ` // "` + OutcomeOK + `") == "` + OutcomeOK + `") or (` + fails + `)`
)

func isTrue(expression string) internalversion.MatchExpression {
	return in(`(`+expression+`) | tostring`, "true")
}

func isFalse(expression string) internalversion.MatchExpression {
	return in(`(`+expression+`) | tostring`, "false")
}

func in(key string, values ...string) internalversion.MatchExpression {
	return match(key, internalversion.SelectorOpIn, values)
}

func notIn(key string, values ...string) internalversion.MatchExpression {
	return match(key, internalversion.SelectorOpNotIn, values)
}

func exists(key string) internalversion.MatchExpression {
	return match(key, internalversion.SelectorOpExists, nil)
}

func absent(key string) internalversion.MatchExpression {
	return match(key, internalversion.SelectorOpDoesNotExist, nil)
}

func match(key string, op internalversion.SelectorOperator, values []string) internalversion.MatchExpression {
	return internalversion.MatchExpression{JQ: &internalversion.SelectorJQ{Key: key, Operator: op, Values: values}}
}

// succeeds matches objects without an outcome, or with the one that says so.
func succeeds() internalversion.MatchExpression {
	return in(outcome+` // "`+OutcomeOK+`"`, OutcomeOK)
}

var (
	podRef  = internalversion.StageResourceRef{APIGroup: "v1", Kind: "Pod"}
	nodeRef = internalversion.StageResourceRef{APIGroup: "v1", Kind: "Node"}
)

// stages returns the lives of the simulated objects.
func stages() map[internalversion.StageResourceRef][]*internalversion.Stage {
	return map[internalversion.StageResourceRef][]*internalversion.Stage{
		nodeRef: nodeStages(),
		podRef:  append(podStages(), endingStages()...),
	}
}

func nodeStages() []*internalversion.Stage {
	return []*internalversion.Stage{
		newStage(nodeRef, "node-ready", notIn(ready, "True"), notIn(outcome, OutcomeNotReady)).
			status(nodeTemplate(nodeReady)),
		newStage(nodeRef, "node-not-ready", notIn(ready, "False"), in(outcome, OutcomeNotReady)).
			status(nodeTemplate(nodeNotReady)),
	}
}

// podStages are for pods that run for ever, and for what can happen to any pod.
func podStages() []*internalversion.Stage {
	return []*internalversion.Stage{
		newStage(podRef, "pod-delete", exists(deleted), notIn(outcome, OutcomeSilent)).deletion(),
		livingPod("pod-starting", succeeds(), isFalse(ofJob), isTrue(startsSlowly)).
			status(podTemplate(podNotReady)),
		livingPod("pod-ready", succeeds(), isFalse(ofJob), isFalse(startsSlowly), notIn(ready, "True")).
			after(delay).
			status(podTemplate(podReady)),
		livingPod("pod-not-ready", in(outcome, OutcomeNotReady), isFalse(container+`.running != null and (`+notReadyYet+`)`)).
			event(corev1.EventTypeWarning, "Unhealthy", "readiness probe failed: simulated").
			status(podTemplate(podNotReady)),
		livingPod("pod-crash", isTrue(crashes), notIn(waiting, reasonCrash)).
			after(delay).
			event(corev1.EventTypeWarning, "BackOff", "back-off restarting failed container: simulated").
			status(podTemplate(podCrashing)),
		livingPod("pod-image-pull", in(outcome, OutcomeImagePull), notIn(waiting, reasonImagePull)).
			after(delay).
			event(corev1.EventTypeWarning, "Failed", "failed to pull image: simulated").
			status(podTemplate(podImagePull)),
		// A pod with a misspelt outcome must not succeed.
		livingPod("pod-unknown-outcome", exists(outcome), notIn(waiting, reasonUnknown),
			notIn(outcome, OutcomeOK, OutcomeFail, OutcomeCrash, OutcomeImagePull, OutcomeNotReady, OutcomeSilent)).
			event(corev1.EventTypeWarning, reasonUnknown, "the annotation "+OutcomeAnnotation+" has a value that is not known").
			status(podTemplate(podUnknown)),
	}
}

const notReadyYet = `[` + ready + `] == ["False"]`

// endingStages: a pod that is to end runs first, and ends after its delay.
func endingStages() []*internalversion.Stage {
	return []*internalversion.Stage{
		livingPod("pod-running", isTrue(ends), in(phase, "Pending")).
			status(podTemplate(podReady)),
		livingPod("pod-complete", succeeds(), isTrue(ofJob), in(phase, "Running")).
			after(delay).
			status(podTemplate(podSucceeded)),
		livingPod("pod-fail", isTrue(fails), in(phase, "Running"), in(policy, "Never")).
			after(delay).
			status(podTemplate(podFailed)),
		livingPod("pod-restart", isTrue(fails), in(phase, "Running"), in(policy, "OnFailure"),
			notIn(restarts, fmt.Sprint(manyRestarts))).
			after(delay).
			event(corev1.EventTypeWarning, "BackOff", "back-off restarting failed container: simulated").
			status(podTemplate(podRestarted)),
	}
}

// stage wraps kwok's type for building.
type stage struct{ *internalversion.Stage }

func newStage(ref internalversion.StageResourceRef, name string, when ...internalversion.MatchExpression) stage {
	s := stage{&internalversion.Stage{}}
	s.Name = name
	s.Spec.ResourceRef = ref
	s.Spec.Selector = &internalversion.StageSelector{MatchExpressions: when}
	return s
}

// livingPod returns a stage for pods that are neither being deleted nor over.
func livingPod(name string, when ...internalversion.MatchExpression) stage {
	when = append([]internalversion.MatchExpression{absent(deleted), in(phase, "Pending", "Running")}, when...)
	return newStage(podRef, name, when...)
}

// after delays the stage by what a jq expression gives, if it gives anything.
func (s stage) after(expression string) stage {
	s.Spec.Delay = &internalversion.StageDelay{
		DurationFrom: &internalversion.ExpressionFrom{JQ: &internalversion.ExpressionJQ{Expression: expression}},
	}
	return s
}

func (s stage) event(kind, reason, message string) stage {
	s.Spec.Steps = append(s.Spec.Steps, internalversion.StageStep{
		Event: &internalversion.StageEvent{Type: kind, Reason: reason, Message: message},
	})
	return s
}

// status ends the stage with a change of the object's status.
func (s stage) status(template string) *internalversion.Stage {
	s.Spec.Steps = append(s.Spec.Steps, internalversion.StageStep{Patch: &internalversion.StagePatch{
		Subresource: "status",
		Root:        "status",
		Template:    template,
		Type:        new(internalversion.StagePatchTypeStrategicMergePatch),
	}})
	return s.Stage
}

func (s stage) deletion() *internalversion.Stage {
	s.Spec.Steps = append(s.Spec.Steps, internalversion.StageStep{Delete: true})
	return s.Stage
}

// podTemplate renders the status of a pod in Go. kwok's functions for addresses
// take one from the node's range each time they are called, so they are called
// only for a pod that has none.
func podTemplate(state string) string {
	return fmt.Sprintf(`{{ if .status.podIP }}{{ PodStatus . %[1]q nil nil }}{{ else }}`+
		`{{ PodStatus . %[1]q (PodIPsWith .spec.nodeName (or .spec.hostNetwork false) .metadata.uid .metadata.name .metadata.namespace) (NodeIPsWith .spec.nodeName) }}`+
		`{{ end }}`, state)
}

func nodeTemplate(state string) string {
	return fmt.Sprintf(`{{ NodeStatus . %q }}`, state)
}
