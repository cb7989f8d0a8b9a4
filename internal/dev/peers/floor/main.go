// Command floor sends only the requests that any tool needs for the same objects and answers:
// LISTs, or one server-side apply per object, with or without dry run. It has no rate limit, does
// no discovery, and ignores the content of the answers.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/clientcmd"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "floor:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("floor", flag.ContinueOnError)
	kubeconfig := flags.String("kubeconfig", os.Getenv("KUBECONFIG"), "`FILE` that says where the cluster is")
	file := flags.String("f", "", "`FILE` with a JSON array of objects")
	parallel := flags.Int("parallel", 64, "requests under way at a time")
	first := flags.Int("first", -1, "write only the first `N` objects; -1: all")
	if err := flags.Parse(args); err != nil {
		return err
	}
	client, err := connect(*kubeconfig)
	if err != nil {
		return err
	}
	objects, err := read(*file)
	if err != nil {
		return err
	}
	chosen := objects
	if *first >= 0 && *first < len(objects) {
		chosen = objects[:*first]
	}
	for _, verb := range flags.Args() {
		group, ctx := errgroup.WithContext(ctx)
		group.SetLimit(*parallel)
		switch verb {
		case "list":
			for _, at := range scopes(client, objects) {
				group.Go(func() error { _, err := at.List(ctx, metav1.ListOptions{}); return err })
			}
		case "dry-run", "apply":
			for _, object := range chosen {
				group.Go(func() error { return apply(ctx, client, object, verb == "dry-run") })
			}
		default:
			return fmt.Errorf("%q is not list, dry-run or apply", verb)
		}
		if err := group.Wait(); err != nil {
			return err
		}
	}
	return nil
}

func connect(kubeconfig string) (*dynamic.DynamicClient, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("find the cluster: %w", err)
	}
	config.QPS = -1
	config.UserAgent = "floor/1"
	return dynamic.NewForConfig(config)
}

func read(file string) ([]*unstructured.Unstructured, error) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read the objects: %w", err)
	}
	var objects []*unstructured.Unstructured
	if err := json.Unmarshal(raw, &objects); err != nil {
		return nil, fmt.Errorf("read the objects: %w", err)
	}
	return objects, nil
}

// resourceOf returns the resource of a kind. It is right for the kinds of the benchmark.
func resourceOf(object *unstructured.Unstructured) schema.GroupVersionResource {
	kind := object.GroupVersionKind()
	return kind.GroupVersion().WithResource(strings.ToLower(kind.Kind) + "s")
}

// scopes returns the scope of each kind's objects.
func scopes(client *dynamic.DynamicClient, objects []*unstructured.Unstructured) map[schema.GroupVersionResource]dynamic.ResourceInterface {
	scopes := map[schema.GroupVersionResource]dynamic.ResourceInterface{}
	for _, object := range objects {
		resource := resourceOf(object)
		scopes[resource] = client.Resource(resource).Namespace(object.GetNamespace())
	}
	return scopes
}

func apply(ctx context.Context, client *dynamic.DynamicClient, object *unstructured.Unstructured, dryRun bool) error {
	options := metav1.ApplyOptions{FieldManager: "floor"}
	if dryRun {
		options.DryRun = []string{metav1.DryRunAll}
	}
	_, err := client.Resource(resourceOf(object)).Namespace(object.GetNamespace()).Apply(ctx, object.GetName(), object, options)
	return err
}
