package backup

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"kolla.openstack.org/kolla/providers"
)

const (
	// lifetime ends a pod of a killed kolla, in seconds.
	lifetime = 24 * 3600
	// mainContainer is the container of such a pod.
	mainContainer = "data"
	// cleanupTimeout limits the deletion of a pod, also after Ctrl-C.
	cleanupTimeout = time.Minute
)

// dataPod describes a pod that mounts claims and waits for commands. It runs as the container of a
// workload does, with the image, user and files of it, and with nothing of its network or its rights.
type dataPod struct {
	name string
	like Workload
	node string // empty: the scheduler decides
	// claims are mounted in place of the volumes with these names: the name of a claim, by the name of
	// the volume. The path of a volume that the container does not mount is in paths.
	claims map[string]string
	paths  map[string]string
}

// manifest returns the Pod.
func (d dataPod) manifest() *unstructured.Unstructured {
	template, _, _ := unstructured.NestedMap(d.like.Live.Object, "spec", "template", "spec")
	from := d.like.container()
	volumes, _ := template["volumes"].([]any)
	mounts, _ := from["volumeMounts"].([]any)
	for volume, claim := range d.claims {
		volumes = append(volumes, map[string]any{"name": volume, "persistentVolumeClaim": map[string]any{"claimName": claim}})
	}
	for volume, path := range d.paths {
		mounts = append(mounts, map[string]any{"name": volume, "mountPath": path})
	}
	// A volume of a claim template is in no pod but the workload's own, unless claims names it.
	mounts = slices.DeleteFunc(mounts, func(mount any) bool {
		return !slices.ContainsFunc(volumes, func(volume any) bool { return nameOf(volume) == nameOf(mount) })
	})
	container := map[string]any{
		"name":         mainContainer,
		"image":        from["image"],
		"command":      []any{"sh", "-c", fmt.Sprintf("trap 'exit 0' TERM; sleep %d & wait", lifetime)},
		"volumeMounts": mounts,
		"resources": map[string]any{
			"requests": map[string]any{"cpu": "100m", "memory": "256Mi"},
			"limits":   map[string]any{"memory": "2Gi"},
		},
	}
	spec := map[string]any{
		"restartPolicy":                 string(corev1.RestartPolicyNever),
		"activeDeadlineSeconds":         int64(lifetime),
		"terminationGracePeriodSeconds": int64(5),
		"automountServiceAccountToken":  false,
		"enableServiceLinks":            false,
		"volumes":                       volumes,
	}
	for _, key := range []string{"imagePullPolicy", "securityContext"} {
		if value, has := from[key]; has {
			container[key] = value
		}
	}
	spec["containers"] = []any{container}
	for _, key := range []string{"imagePullSecrets", "nodeSelector", "priorityClassName", "securityContext", "tolerations"} {
		if value, has := template[key]; has {
			spec[key] = value
		}
	}
	if d.node != "" {
		spec["nodeName"] = d.node
	}
	metadata := map[string]any{"name": d.name, "namespace": d.like.Live.GetNamespace()}
	// No label of the workload: its controller and its Services must not take the pod for one of its own.
	if cloud := d.like.Live.GetLabels()[providers.LabelCloud]; cloud != "" {
		metadata["labels"] = map[string]any{providers.LabelCloud: cloud}
	}
	return &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}}
}

// nameOf returns the name of a volume or of a mount.
func nameOf(item any) string {
	fields, _ := item.(map[string]any)
	name, _, _ := unstructured.NestedString(fields, "name")
	return name
}

// start makes a pod, and waits until it runs. A pod of that name is one of a killed kolla.
func (c *Cluster) start(ctx context.Context, d dataPod) (types.NamespacedName, error) {
	object := d.manifest()
	ref := providers.RefOf(object)
	name := types.NamespacedName{Namespace: ref.Namespace, Name: ref.Name}
	if err := c.Writer.Delete(ctx, ref, providers.DeleteOptions{}); err != nil {
		return name, err
	}
	if _, err := c.Writer.Apply(ctx, object, providers.ApplyOptions{New: true}); err != nil {
		return name, err
	}
	limited, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	err := c.Writer.Wait(limited, ref, providers.WaitOptions{Report: func(status string) { c.waits(d.like.Address, "pod "+d.name+": ", status) }})
	var late *providers.NotReadyError
	if errors.As(err, &late) && ctx.Err() == nil {
		err = fmt.Errorf("start pod %s, which mounts the volume: %s", d.name, late.Reason)
	}
	if err != nil {
		return name, errors.Join(err, c.remove(ctx, name))
	}
	return name, nil
}

// remove deletes a pod, also after the context has ended.
func (c *Cluster) remove(ctx context.Context, pod types.NamespacedName) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupTimeout)
	defer cancel()
	return c.Writer.Delete(ctx, providers.Ref{GVK: corev1.SchemeGroupVersion.WithKind("Pod"), Namespace: pod.Namespace, Name: pod.Name}, providers.DeleteOptions{})
}
