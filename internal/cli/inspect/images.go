package inspect

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/renameio/v2"
	"github.com/urfave/cli/v2"
	"github.com/vbauerster/mpb/v8/decor"
	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/internal/base/crash"
	"kolla.openstack.org/kolla/internal/base/failure"
	"kolla.openstack.org/kolla/internal/base/foreign"
	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/internal/cli/command"
	"kolla.openstack.org/kolla/internal/present/view/tables"
	"kolla.openstack.org/kolla/internal/run/engine"
	"kolla.openstack.org/kolla/lang/imagelock"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/openstack"
	"kolla.openstack.org/kolla/providers/registry"
)

// registryParallelism is the number of images that are asked for or copied at the same time.
const registryParallelism = 4

// Images is `kolla images`.
func Images(s command.Streams) *cli.Command {
	return &cli.Command{
		Name:  "images",
		Usage: "List the container images of the cloud, lock or copy them",
		Description: `
Lists the images of all services, manifests and charts, with their digests and the blocks
that use them. An image without a digest is not locked. It needs no cluster.

-lock asks the registries for the digest of each tag, and writes the digests into
kolla.images.json beside the configuration. Commit that file. Pods then name the digests:
all nodes run the same builds, and a tag that moves changes nothing until you run -lock
again. The plan after it shows which pods restart and which jobs run. The file has the
images of one set of variables. Images that only manifests or charts use stay as they are
there.

-mirror copies the images to another registry, for clouds without access to the internet.
Locked images are copied with their digests. Run the command again to continue an
interrupted copy.

-nodes asks the cluster. By default a kubelet reports its 50 largest images
(nodeStatusMaxImages). The command names the nodes that report 50: they may have more.

kolla uses the logins of docker and podman.`,
		Flags: append(command.CloudFlags(),
			&cli.BoolFlag{Name: "lock", Usage: "write the digests of the images into " + imagelock.File},
			&cli.StringFlag{Name: "mirror", Usage: "copy the images to `REGISTRY`, a host with or without a path"},
			&cli.BoolFlag{Name: "nodes", Usage: "show which builds of each image the nodes of the cluster have"},
			&cli.BoolFlag{Name: "json", Usage: "print JSON"},
			command.NoColorFlag()),
		Action: func(c *cli.Context) error {
			if err := command.Exclusive(c, [][2]string{{"lock", "mirror"}, {"lock", "nodes"}, {"lock", "json"}, {"mirror", "nodes"}, {"mirror", "json"}}); err != nil {
				return err
			}
			w := command.NewWorkspace(s, c)
			w.Unlocked, w.Loading.Quiet = c.Bool("lock"), true
			objects, err := w.Render()
			if err != nil {
				return err
			}
			warnIncomplete(w.Printer, objects)
			images := openstack.Images(objects)
			switch {
			case c.Bool("lock"):
				return lockImages(w, images)
			case c.IsSet("mirror"):
				return mirrorImages(w, images, c.String("mirror"))
			}
			return listImages(w, images)
		},
	}
}

// listImages prints the images, and on request the builds of them on the nodes.
func listImages(w *command.Workspace, images []openstack.Image) error {
	list := tables.Images{Format: "1.0", Images: []tables.Image{}}
	var nodes []openstack.Node
	if w.Flags.Bool("nodes") {
		var err error
		if nodes, list.FullNodes, err = nodesWithImages(w); err != nil {
			return err
		}
	}
	for _, i := range images {
		reference := providers.SplitImage(i.Reference)
		row := tables.Image{Image: reference.Tagged(), Digest: reference.Digest, UsedBy: i.Blocks}
		for _, build := range i.Builds(nodes) {
			row.Builds = append(row.Builds, tables.Build(build))
		}
		list.Images = append(list.Images, row)
	}
	if w.Flags.Bool("json") {
		return foreign.JSON(w.Streams.Out, list, "  ")
	}
	return list.Print(w.Streams.Out)
}

// maxImages is the number of images that a kubelet reports by default, the largest first.
const maxImages = 50

// nodesWithImages returns the nodes, and the names of the nodes that report maxImages images.
func nodesWithImages(w *command.Workspace) (nodes []openstack.Node, full []string, err error) {
	if err := w.Dial(); err != nil {
		return nil, nil, err
	}
	live, err := w.Nodes(w.Flags.Context)
	if err != nil {
		return nil, nil, err
	}
	for _, u := range live {
		found, _, _ := unstructured.NestedFieldNoCopy(u.Object, "status", "images")
		if images, _ := found.([]any); len(images) == maxImages {
			full = append(full, u.GetName())
		}
		nodes = append(nodes, openstack.Node{Name: u.GetName(), Images: func() map[string][]string { return engine.ImagesOn(u) }})
	}
	slices.Sort(full)
	return nodes, full, nil
}

// lockImages writes the digests of the tags. It writes nothing unless it knows all of them.
func lockImages(w *command.Workspace, images []openstack.Image) error {
	images = slices.DeleteFunc(images, func(i openstack.Image) bool { return !i.Lockable() })
	client, err := newRegistries(w)
	if err != nil {
		return err
	}
	references, digests := make([]string, len(images)), make([]string, len(images))
	for i, image := range images {
		references[i] = image.Reference
	}
	err = each(w, references, func(ctx context.Context, i int, _ func(string)) (outcome string, err error) {
		digests[i], err = client.Digest(ctx, references[i])
		if err == nil && !imagelock.IsDigest(digests[i]) {
			err = fmt.Errorf("the registry gives %s the digest %q: expected sha256", references[i], digests[i])
		}
		return "found", err
	})
	if err != nil {
		return failure.With(err, "Not all images have a digest", sentences(w, err)+"\n\nNothing was written.")
	}
	lock := map[string]string{}
	for i, reference := range references {
		lock[reference] = digests[i]
	}
	before := map[string]string{}
	if text, err := os.ReadFile(imagelock.File); err == nil {
		_ = json.Unmarshal(text, &before) // the file may be damaged; it is only compared
	}
	if err := renameio.WriteFile(imagelock.File, imagelock.Encode(lock), 0o644, renameio.WithExistingPermissions()); err != nil {
		return fmt.Errorf("write the digests of the images: %w", err)
	}
	tables.LockChanges(w.Streams.Out, before, lock)
	fmt.Fprintf(w.Streams.Out, "Wrote the digests of %s into %s.\n", words.Count(len(lock), "image"), imagelock.File)
	return nil
}

// mirrorImages copies the images to another registry, under the last parts of their names.
func mirrorImages(w *command.Workspace, images []openstack.Image, to string) error {
	to = strings.TrimSuffix(to, "/")
	if to == "" || strings.Contains(to, "://") {
		return failure.New("Not a registry", fmt.Sprintf("-mirror=%s: expected a host with or without a path, such as registry.example.org/kolla.", to))
	}
	images, shadowed, err := copies(images, to)
	if err != nil {
		return err
	}
	client, err := newRegistries(w)
	if err != nil {
		return err
	}
	targets := make([]string, len(images))
	for i, image := range images {
		targets[i] = mirrored(image, to)
	}
	copied := make([]bool, len(images))
	err = each(w, targets, func(ctx context.Context, i int, begun func(string)) (outcome string, err error) {
		began := time.Now()
		copied[i], err = client.Copy(ctx, images[i].Reference, targets[i], func(size int64) {
			begun(fmt.Sprintf("copying % .1f", decor.SizeB1000(size)))
		})
		if !copied[i] {
			return "skipped: already there", err
		}
		return "copied after " + words.Duration(time.Since(began)), err
	})
	if err != nil {
		return failure.With(err, "Not all images were copied", sentences(w, err)+"\n\nRun the command again to continue.")
	}
	if len(shadowed) > 0 {
		return failure.New("Images with the name of another one were not copied", strings.Join(shadowed, "\n")+"\n\nAll others were copied. Copy these yourself, under other names.")
	}
	count := len(slices.DeleteFunc(copied, func(is bool) bool { return !is }))
	foreign.Fprintf(w.Streams.Out, "Copied %s; %d were there already. The cloud pulls them with\n\n  registry = %q\n\nIf `images` names other registries, change these references too. Manifests and charts keep theirs. Then run `kolla images -lock`, if you lock the images.\n",
		words.Count(count, "image"), len(images)-count, to)
	return nil
}

// copies returns the images to copy. An image that a service locks and a manifest does not is
// copied as it is locked. Others whose names end like that of another image are left out, with a line
// each.
func copies(images []openstack.Image, to string) (chosen []openstack.Image, shadowed []string, err error) {
	byTarget := map[string]int{}
	for _, image := range images {
		reference := providers.SplitImage(image.Reference)
		tag, target := reference.Tagged(), mirrored(image, to)
		if providers.SplitImage(target).Tagged() == tag {
			return nil, nil, failure.New("The images are there already", fmt.Sprintf(
				"The configuration takes %s from %s. To copy new builds, name the registry that they come from: make `registry` a variable, and run `kolla images -mirror=%s -var=registry=quay.io/openstack.kolla`.", tag, to, to))
		}
		i, taken := byTarget[target]
		if !taken {
			byTarget[target] = len(chosen)
			chosen = append(chosen, image)
			continue
		}
		switch {
		case providers.SplitImage(chosen[i].Reference).Tagged() != tag:
			shadowed = append(shadowed, fmt.Sprintf("%s: its copy would have the name of that of %s", image.Reference, chosen[i].Reference))
		case reference.Digest != "":
			chosen[i] = image
		}
	}
	return chosen, shadowed, nil
}

// mirrored returns the reference of an image in another registry. It has the tag, or else the
// digest.
func mirrored(image openstack.Image, registry string) string {
	reference := providers.SplitImage(image.Reference)
	reference.Repository = registry + "/" + reference.Name()
	if reference.Tag == "" && reference.Digest != "" {
		return reference.Pinned()
	}
	return reference.Tagged()
}

// newRegistries returns a client of all registries.
func newRegistries(w *command.Workspace) (*registry.Client, error) {
	return registry.NewClient("kolla/"+w.Streams.Version, w.Streams.Secrets.Add)
}

// each calls do for each image, several at the same time, and joins the errors. It prints the outcome of
// each image, and before it the text that do gives to begun.
func each(w *command.Workspace, references []string, do func(ctx context.Context, i int, begun func(text string)) (outcome string, err error)) error {
	ctx := w.Flags.Context
	var group errgroup.Group
	group.SetLimit(registryParallelism)
	var mu sync.Mutex
	over, failed := 0, make([]error, len(references))
	for i, reference := range references {
		group.Go(crash.Catching(func() error {
			if ctx.Err() != nil {
				return nil
			}
			outcome, err := do(ctx, i, func(text string) {
				mu.Lock()
				defer mu.Unlock()
				foreign.Fprintf(w.Streams.Out, "%s: %s\n", reference, text)
			})
			if ctx.Err() != nil {
				return nil
			}
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				outcome, failed[i] = "FAILED", err // the end of the command prints the reason, once
			}
			over++
			foreign.Fprintf(w.Streams.Out, "%s: %s  [%d of %d]\n", reference, outcome, over, len(references))
			return nil
		}))
	}
	return cmp.Or(ctx.Err(), errors.Join(append(failed, group.Wait())...))
}

// sentences returns the lines of joined errors without secret values.
func sentences(w *command.Workspace, err error) string { return w.Streams.Secrets.Text(err.Error()) }
