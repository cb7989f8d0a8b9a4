package inspect

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/google/renameio/v2"
	"github.com/urfave/cli/v2"
	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kolla.openstack.org/kolla/internal/base/failure"
	"kolla.openstack.org/kolla/internal/base/foreign"
	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/internal/cli/command"
	"kolla.openstack.org/kolla/internal/present/view/tables"
	"kolla.openstack.org/kolla/internal/run/engine"
	"kolla.openstack.org/kolla/lang/imagelock"
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
that use them. It needs no cluster.

-lock asks the registries for the digest of each tag, and writes the digests into
kolla.images.json beside the configuration. Commit that file. Pods then name the digests:
all nodes run the same builds, and a tag that moves changes nothing until you run -lock
again. The plan after it shows which pods restart. Images that only manifests or charts use
stay as they are there.

-mirror copies the images to another registry, for clouds without access to the internet.
Locked images are copied with their digests. A copy that was interrupted goes on where it
was.

kolla logs in to registries as docker and podman do, with ~/.docker/config.json.`,
		Flags: append(append(command.VariableFlags(), command.ClusterFlags()...),
			&cli.BoolFlag{Name: "lock", Usage: "write the digests of the images into " + imagelock.File},
			&cli.StringFlag{Name: "mirror", Usage: "copy the images to `REGISTRY`, a host with or without a path"},
			&cli.BoolFlag{Name: "nodes", Usage: "show which builds of each image the nodes of the cluster have"},
			&cli.BoolFlag{Name: "json", Usage: "print JSON"},
			command.NoColorFlag()),
		Action: func(c *cli.Context) error {
			if err := command.NoArguments(c); err != nil {
				return err
			}
			chosen := 0
			for _, option := range []string{"lock", "mirror", "nodes"} {
				if c.IsSet(option) {
					chosen++
				}
			}
			if chosen > 1 {
				return failure.New("One thing at a time", "-lock, -mirror and -nodes do not go together.")
			}
			w := command.NewWorkspace(s, c)
			w.Unlocked, w.Loading.Quiet = c.Bool("lock"), true
			objects, err := renderOffline(w)
			if err != nil {
				return err
			}
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
	var nodes []openstack.Node
	if w.Flags.Bool("nodes") {
		var err error
		if nodes, err = nodesWithImages(w); err != nil {
			return err
		}
	}
	list := tables.Images{Format: "1.0", Images: []tables.Image{}}
	for _, i := range images {
		tag, digest := i.Tag()
		row := tables.Image{Image: tag, Digest: digest, UsedBy: i.Blocks}
		for _, build := range openstack.Builds(tag, nodes) {
			row.Builds = append(row.Builds, tables.Build(build))
		}
		list.Images = append(list.Images, row)
	}
	if w.Flags.Bool("json") {
		return foreign.JSON(w.Streams.Out, list, "  ")
	}
	return list.Print(w.Streams.Out)
}

func nodesWithImages(w *command.Workspace) ([]openstack.Node, error) {
	if err := w.Dial(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(w.Flags.Context, nodesTimeout)
	defer cancel()
	live, err := w.Client.List(ctx, schema.GroupVersionKind{Version: "v1", Kind: "Node"}, "")
	if err != nil {
		return nil, err
	}
	var nodes []openstack.Node
	for _, u := range live {
		nodes = append(nodes, openstack.Node{Name: u.GetName(), Images: func() map[string]string { return engine.ImagesOn(u) }})
	}
	return nodes, nil
}

// lockImages writes the digests of the tags. It writes nothing unless it knows all of them.
func lockImages(w *command.Workspace, images []openstack.Image) error {
	images = slices.DeleteFunc(images, func(i openstack.Image) bool { return !i.Lockable() })
	client, err := newRegistries(w)
	if err != nil {
		return err
	}
	lock := map[string]string{}
	var mu sync.Mutex
	err = each(w, images, func(ctx context.Context, image openstack.Image) error {
		digest, err := client.Digest(ctx, image.Reference)
		if err == nil && !imagelock.IsDigest(digest) {
			err = fmt.Errorf("the registry gives %s the digest %q: expected sha256", image.Reference, digest)
		}
		mu.Lock()
		defer mu.Unlock()
		lock[image.Reference] = digest
		return err
	})
	if err != nil {
		return failure.With(err, "Not all images have a digest", sentences(w, err)+"\n\nNothing was written.")
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
	targets := map[string]string{}
	for _, image := range images {
		target := mirrored(image, to)
		if other := targets[target]; other != "" {
			return failure.New("Two images have one name", fmt.Sprintf("%s and %s would both become %s. Copy one of them yourself.", other, image.Reference, target))
		}
		targets[target] = image.Reference
	}
	client, err := newRegistries(w)
	if err != nil {
		return err
	}
	var mu sync.Mutex
	count := 0
	err = each(w, images, func(ctx context.Context, image openstack.Image) error {
		target := mirrored(image, to)
		copied, err := client.Copy(ctx, image.Reference, target)
		if err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		state := "already there"
		if copied {
			count++
			state = "copied"
		}
		foreign.Fprintf(w.Streams.Out, "%s: %s\n", target, state)
		return nil
	})
	if err != nil {
		return failure.With(err, "Not all images were copied", sentences(w, err)+"\n\nThe same command goes on where this one was.")
	}
	foreign.Fprintf(w.Streams.Out, "Copied %s; %d were there already. The cloud pulls them with\n\n  registry = %q\n\nand the same names in `images`, if it has any. Then run `kolla images -lock`, if you lock the images.\n",
		words.Count(count, "image"), len(images)-count, to)
	return nil
}

// mirrored returns the reference of an image in another registry. It has the tag, or else the
// digest.
func mirrored(image openstack.Image, registry string) string {
	tag, digest := image.Tag()
	name := tag[strings.LastIndexByte(tag, '/')+1:]
	if digest != "" && !strings.Contains(name, ":") {
		return registry + "/" + name + "@" + digest
	}
	return registry + "/" + name
}

// newRegistries returns a client of all registries.
func newRegistries(w *command.Workspace) (*registry.Client, error) {
	return registry.NewClient("kolla/"+w.Streams.Version, w.Streams.Secrets.Add)
}

// each calls do for each image, several at the same time, and joins the errors.
func each(w *command.Workspace, images []openstack.Image, do func(context.Context, openstack.Image) error) error {
	var group errgroup.Group
	group.SetLimit(registryParallelism)
	failed := make([]error, len(images))
	for i, image := range images {
		group.Go(func() error {
			failed[i] = do(w.Flags.Context, image)
			return nil
		})
	}
	_ = group.Wait()
	if err := w.Flags.Context.Err(); err != nil {
		return err
	}
	return errors.Join(failed...)
}

// sentences returns the lines of joined errors without secret values.
func sentences(w *command.Workspace, err error) string { return w.Streams.Secrets.Text(err.Error()) }
