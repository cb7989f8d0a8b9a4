// Package effects puts the effects of a plan on a service into words: a line for each effect.
package effects

import (
	"cmp"
	"fmt"
	"strings"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/plans"
)

// OfWorkload reports whether an effect concerns one workload. A block may have several workloads.
func OfWorkload(kind plans.EffectKind) bool {
	switch kind {
	case plans.EffectDeploy, plans.EffectStop, plans.EffectRecreate, plans.EffectRestart,
		plans.EffectLeave, plans.EffectCutOff, plans.EffectScaleUp, plans.EffectScaleDown, plans.EffectDataLost, plans.EffectVolumesStay:
		return true
	}
	return false
}

// Text describes an effect on a block in one line.
func Text(block string, e plans.Effect) string {
	pods := words.Count(e.Pods, "pod")
	switch e.Kind {
	case plans.EffectDeploy:
		if e.EachNode {
			return "will be deployed, one pod on each of its nodes"
		}
		if e.Pods == 0 {
			return "will be deployed without pods: " + noPods(e)
		}
		return pods + " will be deployed"
	case plans.EffectStop:
		if e.EachNode {
			return "the pod on each of its nodes will be deleted"
		}
		if e.Pods == 0 {
			return "will be deleted; it has no pods"
		}
		return pods + " will be deleted"
	case plans.EffectRecreate:
		if e.Pods == 0 {
			return "is deleted and made again; it has no pods: " + WhyAgain(e.Why)
		}
		return fmt.Sprintf("%s %s at once, and new ones are made: %s", pods, words.Plural(e.Pods, "stops", "stop"), WhyAgain(e.Why))
	case plans.EffectRestart:
		return restartText(block, e, pods)
	case plans.EffectLeave:
		text := fmt.Sprintf("%s %s deleted, on %s", pods, words.Plural(e.Pods, "is", "are"), words.Few(e.Items, 4))
		if e.Data != "" {
			text += ", where " + e.Data
		}
		return text
	case plans.EffectCutOff:
		return cutOffText(e)
	case plans.EffectScaleUp:
		return pods + " added"
	case plans.EffectScaleDown:
		return pods + " removed"
	case plans.EffectJob:
		return fmt.Sprintf("job %s runs", e.Name)
	case plans.EffectJobAgain:
		return fmt.Sprintf("job %s runs again", e.Name)
	case plans.EffectPorts:
		return fmt.Sprintf("the ports of %s change", e.Ref)
	case plans.EffectNodePods:
		return NodePods(e)
	case plans.EffectPublicAddress:
		return fmt.Sprintf("clients outside have to use another address: %s → %s", e.Items[0], e.Items[1])
	case plans.EffectUnreachable:
		return fmt.Sprintf("%s is deleted and made again: nothing reaches it in between", e.Ref)
	}
	return dataText(e)
}

// NodePods says which DaemonSets have no pods on a node because of its labels.
func NodePods(e plans.Effect) string {
	daemons := fmt.Sprintf("%s (%s)", words.Count(len(e.Items), "DaemonSet"), words.Few(e.Items, 6))
	if e.Grave {
		return fmt.Sprintf("%s lost labels: the pods of %s were removed there, and an apply brings them back", e.Ref, daemons)
	}
	return fmt.Sprintf("%s gets pods of %s", e.Ref, daemons)
}

// noPods says why a new workload has no pods.
func noPods(e plans.Effect) string {
	if e.Ref.GVK.Kind == "DaemonSet" {
		return "no node has the labels and taints that it asks for"
	}
	return "replicas is 0"
}

// dataText describes an effect on data.
func dataText(e plans.Effect) string {
	switch e.Kind {
	case plans.EffectLoss:
		if e.Ref.GVK.Kind == "PersistentVolumeClaim" && e.Loss.Address.Kind != e.Ref.GVK.Kind {
			return e.Name + " " + e.Loss.Consequence()
		}
		return fmt.Sprintf("%s is gone: %s", e.Ref, e.Loss.Consequence())
	case plans.EffectDataLost:
		return e.Data + ", is lost"
	case plans.EffectDataDeleted:
		return fmt.Sprintf("%s is deleted, and %s with it", e.Ref, e.Data)
	case plans.EffectDataReplaced:
		return fmt.Sprintf("%s is deleted and made again, and %s is lost", e.Ref, e.Data)
	case plans.EffectValuesDropped:
		return fmt.Sprintf("%s is deleted with %s, which is not copied to %s", e.Ref, words.Few(e.Items, 4), e.ValuesCopiedTo)
	case plans.EffectVolumesStay:
		return fmt.Sprintf("%s %s, with the data: %s", words.Count(len(e.Items), "volume"), words.Plural(len(e.Items), "stays", "stay"), words.Few(e.Items, 3))
	}
	return string(e.Kind)
}

// cutOffText lists the items that are cut off, node by node: "running servers that would be cut off
// (2): real-2: web-1, web-2".
func cutOffText(e plans.Effect) string {
	const limit = 4
	if len(e.Carried) == 0 {
		pods := "the pods"
		if len(e.Items) > 0 {
			pods += " on " + words.Few(e.Items, limit)
		}
		return fmt.Sprintf("%s that may be cut off: not known until an apply asks %s", e.Data, pods)
	}
	n, atLeast := 0, ""
	var nodes []string
	for _, c := range e.Carried {
		n += len(c.Items) + c.More
		if c.Unknown != "" || c.More > 0 {
			atLeast = "at least "
		}
		nodes = append(nodes, carriedText(c, limit))
	}
	title := e.Data + " that may be cut off"
	if n > 0 {
		title = fmt.Sprintf("%s that would be cut off (%s%d)", e.Data, atLeast, n)
	}
	return title + ": " + strings.Join(words.First(nodes, limit, "node"), "; ")
}

// carriedText lists at most limit items on a node.
func carriedText(c plans.Carried, limit int) string {
	node := cmp.Or(c.Node, "all nodes")
	if c.Unknown != "" {
		return fmt.Sprintf("%s: could not be asked: %s", node, c.Unknown)
	}
	shown := c.Items[:min(limit, len(c.Items))]
	text := node + ": " + strings.Join(shown, ", ")
	if more := len(c.Items) - len(shown) + c.More; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

func restartText(block string, e plans.Effect, pods string) string {
	var causes []string
	for _, c := range e.Causes {
		causes = append(causes, causeText(c))
	}
	why := words.Few(causes, 3)
	if e.EachNode && e.Strategy != plans.OnRequest {
		return fmt.Sprintf("the pod on each of its nodes restarts%s: %s", meanwhile(e), why)
	}
	if e.EachNode {
		pods = "the pods"
	}
	if e.Strategy == plans.OnRequest {
		address := addrs.Object{Block: block, Kind: e.Ref.GVK.Kind, Name: e.Name}
		return fmt.Sprintf("%s %s as before until kolla rollout '%s' replaces %s%s: %s", pods, words.Plural(e.Pods, "goes on", "go on"), address, words.Plural(e.Pods, "it", "them"), meanwhile(e), why)
	}
	pace := ""
	switch {
	case e.Pods == 1 && e.Downtime:
		pace = ", and nothing answers meanwhile"
	case e.Pods == 1:
	case e.Strategy == plans.AllAtOnce:
		pace = ", all at once"
	case e.AtATime == 1:
		pace = ", one at a time"
	default:
		pace = fmt.Sprintf(", %d at a time", e.AtATime)
	}
	return fmt.Sprintf("%s %s%s%s: %s", pods, words.Plural(e.Pods, "restarts", "restart"), pace, meanwhile(e), why)
}

// meanwhile describes the consequences for others while pods restart.
func meanwhile(e plans.Effect) string {
	if e.Data == "" {
		return ""
	}
	return fmt.Sprintf(" (meanwhile %s)", e.Data)
}

// WhyAgain says why a workload is deleted and made again.
func WhyAgain(reasons []plans.Reason) string {
	if len(reasons) == 0 {
		return "as requested"
	}
	switch reasons[0].Kind {
	case plans.ReasonImmutable:
		var paths []string
		for _, r := range reasons {
			if r.Path == "" {
				r.Path = "it"
			}
			paths = append(paths, r.Path)
		}
		return strings.Join(paths, ", ") + " cannot be changed in place"
	case plans.ReasonTriggered:
		return reasons[0].TriggerWords()
	}
	return "as requested"
}

// causeText says why pods restart.
func causeText(c plans.Cause) string {
	switch c.Kind {
	case plans.CauseImage:
		was, is := imageChange(c.Before, c.After)
		return fmt.Sprintf("image %s → %s", was, is)
	case plans.CauseEnvironment:
		return c.Name + " in the environment " + changeVerb(c)
	case plans.CauseSecret:
		return fmt.Sprintf("values of secret %s changed", c.Name)
	case plans.CauseResources:
		return "resources changed"
	case plans.CauseSecretFile:
		return fmt.Sprintf("secret values in %s changed", c.Name)
	case plans.CauseSource:
		return fmt.Sprintf("%s → %s", c.Before, c.After)
	}
	if len(c.Settings) > 0 {
		return fmt.Sprintf("%s in %s changed", words.Few(c.Settings, 2), c.Name)
	}
	return c.Name + " " + changeVerb(c)
}

// changeVerb returns the verb for the change of a field: added, removed or changed. The plan does
// not record whether a secret field is added or removed.
func changeVerb(c plans.Cause) string {
	switch {
	case c.Added == c.Removed:
		return "changed"
	case c.Added:
		return "added"
	}
	return "removed"
}

// imageChange names two images by the part that differs: the name with tag or digest, the
// registry, or both.
func imageChange(before, after string) (was, is string) {
	beforeName, afterName := baseName(before), baseName(after)
	switch {
	case before == "":
		return "none", after
	case strings.TrimSuffix(before, beforeName) == strings.TrimSuffix(after, afterName):
		return beforeName, afterName
	case beforeName != afterName:
		return before, after
	}
	version := afterName[strings.IndexAny(afterName+":", ":@"):]
	return strings.TrimSuffix(before, version), strings.TrimSuffix(after, version)
}

func baseName(image string) string { return image[strings.LastIndex(image, "/")+1:] }
