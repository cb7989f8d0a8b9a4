package command

import (
	"context"
	"fmt"
	"os"
	"strings"

	"kolla.openstack.org/kolla/internal/base/failure"
	"kolla.openstack.org/kolla/internal/base/foreign"
	"kolla.openstack.org/kolla/internal/operator"
	"kolla.openstack.org/kolla/internal/operator/v1alpha1"
	"kolla.openstack.org/kolla/internal/present/textdiff"
	"kolla.openstack.org/kolla/providers/kubernetes"
)

const takeOverFlag = "take-over"

// takeOver asks before the work on a cloud that the operator manages. owner is its Cloud; empty: nobody is asked.
// handedOver: the operator does the work, because a person wrote the configuration into the source.
func (w *Workspace) takeOver(ctx context.Context, owner string) (handedOver bool, err error) {
	if owner == "" || w.Flags.Bool(takeOverFlag) {
		return false, nil
	}
	namespace, name, _ := strings.Cut(owner, "/")
	source := "what the source of that Cloud says"
	clouds, cloud := w.cloudOf(ctx, namespace, name)
	if cloud != nil {
		source = operator.SourceInWords(cloud.Spec)
	}
	how := "change the source instead"
	offers := cloud != nil && len(cloud.Spec.Source.ConfigMaps) > 0
	switch {
	case offers:
		how = "write the change there instead: kolla apply offers it on a terminal"
	case cloud != nil && cloud.Spec.Source.Git != nil:
		how = "commit the change there instead"
	}
	summary := fmt.Sprintf("The operator manages this cloud, for Cloud %s in namespace %s", name, namespace)
	detail := fmt.Sprintf("It applies %s, so %s. In an emergency, -take-over goes on from here, and the operator leaves the cloud alone until it gets it back with `kolla operator resume -n %s %s`.", source, how, namespace, name)
	if !w.Streams.Interactive() {
		return false, failure.New(summary, detail)
	}
	w.Printer.Warn(summary, detail)
	if offers && w.Config != nil && !w.Loading.Destroy {
		if handedOver, err = w.handOver(ctx, clouds, cloud); handedOver || err != nil {
			return handedOver, err
		}
	}
	return false, w.Streams.Approve(ctx, "\nDo you want to take the cloud over?")
}

// cloudOf reads a Cloud; nil: it cannot be read, or is gone.
func (w *Workspace) cloudOf(ctx context.Context, namespace, name string) (*operator.Clouds, *v1alpha1.Cloud) {
	clouds, err := operator.Connect(kubernetes.Options{
		Kubeconfig: w.Flags.String("kubeconfig"), Context: w.Flags.String("context"), UserAgent: "kolla/" + w.Streams.Version, Secrets: w.Streams.Secrets,
	}, namespace)
	if err != nil {
		return nil, nil
	}
	cloud, err := clouds.Find(ctx, name)
	if err != nil {
		return nil, nil
	}
	return clouds, cloud
}

// handOver offers to write the files of this directory into the ConfigMaps of a Cloud.
func (w *Workspace) handOver(ctx context.Context, clouds *operator.Clouds, cloud *v1alpha1.Cloud) (done bool, err error) {
	draft, err := clouds.Draft(ctx, cloud, os.DirFS("."))
	if err != nil {
		return false, fmt.Errorf("compare the source of Cloud %s with this directory: %w", cloud.Name, err)
	}
	if len(draft.Edits) == 0 {
		foreign.Fprintf(w.Streams.Out, "\nThe files of %s are those of this directory.\n", operator.SourceInWords(cloud.Spec))
		return false, nil
	}
	for _, e := range draft.Edits {
		foreign.Fprintf(w.Streams.Out, "\nConfigMap %s, %s:\n", e.ConfigMap, e.File)
		for _, line := range textdiff.Of(e.Before, e.After) {
			mark := map[textdiff.Kind]string{textdiff.Added: "+ ", textdiff.Removed: "- "}[line.Kind]
			foreign.Fprintf(w.Streams.Out, "  %2s%s\n", mark, strings.TrimSuffix(line.Text, "\n"))
		}
	}
	if done, err = w.Streams.Confirm(ctx, "\nDo you want to write this into the source, for the operator?"); err != nil || !done {
		return false, err
	}
	if err := clouds.Write(ctx, draft); err != nil {
		return false, err
	}
	foreign.Fprintf(w.Streams.Out, "The source has the change, and nothing else was changed.\n`kolla operator approve -n %s %s` shows the plan of the operator, and allows it.\n", cloud.Namespace, cloud.Name)
	return true, nil
}
