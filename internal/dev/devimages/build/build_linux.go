// Package build makes images by their recipes. It builds the layers that are missing in the
// cache, and writes the requested images to an image layout.
package build

import (
	"cmp"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/renameio/v2"

	"kolla.openstack.org/kolla/internal/dev/devimages/cache"
	"kolla.openstack.org/kolla/internal/dev/devimages/imageset"
	"kolla.openstack.org/kolla/internal/dev/devimages/ocitar"
	"kolla.openstack.org/kolla/internal/dev/devimages/recipe"
	"kolla.openstack.org/kolla/internal/dev/devimages/rootfs"
)

// Run builds.
func Run(ctx context.Context, options Options) error {
	release, err := recipe.FindRelease(options.Release)
	if err != nil {
		return err
	}
	options.Tag = cmp.Or(options.Tag, release.Tag)
	images, err := options.choose(release)
	if err != nil {
		return err
	}
	// Layers and packages of a release would replace those of another.
	dir := filepath.Join(options.Cache, release.Name)
	store, err := cache.Open(ctx, dir, func() {
		options.Progress("waiting for another build that uses the cache " + dir)
	})
	if err != nil {
		return err
	}
	defer store.Close()
	b := &builder{Options: options, release: release, cache: store, layers: map[string]cache.Layer{}, all: layersOf(images), update: true}
	if err := b.needs(ctx, images); err != nil {
		return err
	}
	var set []imageset.Image
	for _, image := range images {
		if image.File != "" {
			if err := b.file(ctx, image); err != nil {
				return err
			}
			continue
		}
		made, err := b.image(ctx, image)
		if err != nil {
			return err
		}
		set = append(set, made)
	}
	return imageset.Write(options.Out, set)
}

type builder struct {
	Options
	release recipe.Release
	cache   *cache.Cache
	layers  map[string]cache.Layer // by name
	all     int                    // how many layers the images have together
	update  bool                   // the package lists have to be renewed
}

// maker returns a hash of the program that makes layers, of its settings, and of the sources of the
// packages. It is a part of every layer's key.
func (b *builder) maker() string {
	sum := sha256.New()
	for _, sources := range []embed.FS{rootfs.Sources, ocitar.Sources} {
		err := fs.WalkDir(sources, ".", func(name string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || strings.HasSuffix(name, "_test.go") {
				return err
			}
			content, err := sources.ReadFile(name)
			fmt.Fprintf(sum, "%s %d\n%s", name, len(content), content)
			return err
		})
		if err != nil {
			panic(err) // they are in this program
		}
	}
	fmt.Fprintf(sum, "%s %q %q %s", b.release.Suite, b.sources(), b.release.AptOptions, runtime.GOARCH)
	return hex.EncodeToString(sum.Sum(nil))
}

func (b *builder) sources() []string { return b.release.AptSources(b.Mirror, b.Security) }

// keyed is a layer with its key.
type keyed struct {
	recipe.Layer
	key string
}

func (b *builder) chain(name string) []keyed {
	var chain []keyed
	parent, maker := "", b.maker()
	for _, layer := range recipe.Chain(name) {
		parent = layer.Key(parent, maker)
		chain = append(chain, keyed{layer, parent})
	}
	return chain
}

// needs returns an error if a layer has to be built and this machine lacks requirements.
func (b *builder) needs(ctx context.Context, images []recipe.Image) error {
	for _, image := range images {
		if image.Layer == "" {
			continue
		}
		for _, layer := range b.chain(image.Layer) {
			_, found, err := b.cache.Find(layer.Name, layer.key)
			if err != nil {
				return err
			}
			if !found {
				work, err := b.cache.Work()
				if err != nil {
					return err
				}
				return rootfs.Check(ctx, work)
			}
		}
	}
	return nil
}

func (b *builder) image(ctx context.Context, image recipe.Image) (imageset.Image, error) {
	made := imageset.Image{
		Reference:    b.reference(image),
		Architecture: runtime.GOARCH,
		Config: v1.Config{
			User:       image.User,
			Env:        image.Env,
			Entrypoint: image.Entrypoint,
			Cmd:        image.Cmd,
			WorkingDir: "/",
			Labels:     map[string]string{"name": image.Name, "maintainer": "kolla tests", "kolla_version": b.release.Name},
		},
	}
	if image.Binary != "" {
		made.Config.Labels = nil
		layer, err := b.binary(image)
		made.Layers = []imageset.Layer{imageLayer(layer, image.Binary)}
		return made, err
	}
	layers, err := b.stack(ctx, image.Layer)
	for i, layer := range recipe.Chain(image.Layer)[:len(layers)] {
		made.Layers = append(made.Layers, imageLayer(layers[i], layer.Name+": "+strings.Join(layer.Packages, " ")))
	}
	return made, err
}

// file copies the file of a layer to the directory beside the images.
func (b *builder) file(ctx context.Context, image recipe.Image) error {
	layers, err := b.stack(ctx, image.Layer)
	if err != nil {
		return err
	}
	content, err := os.ReadFile(filepath.Join(layers[len(layers)-1].Files, image.File))
	if err != nil {
		return err
	}
	if err := os.MkdirAll(b.Out, 0o755); err != nil {
		return err
	}
	return renameio.WriteFile(filepath.Join(b.Out, image.File), content, 0o644)
}

// stack returns a layer and the layers below it, lowest first.
func (b *builder) stack(ctx context.Context, name string) ([]cache.Layer, error) {
	var layers []cache.Layer
	for _, layer := range b.chain(name) {
		done, err := b.layer(ctx, layer, layers)
		if err != nil {
			return layers, err
		}
		layers = append(layers, done)
	}
	return layers, nil
}

func imageLayer(layer cache.Layer, comment string) imageset.Layer {
	return imageset.Layer{
		Path:      layer.Path,
		Hash:      layer.Digest,
		Length:    layer.Size,
		PlainHash: layer.DiffID,
		Comment:   comment,
	}
}

// layer returns a layer from the cache, or builds it on top of the layers below.
func (b *builder) layer(ctx context.Context, layer keyed, below []cache.Layer) (cache.Layer, error) {
	if done, ok := b.layers[layer.Name]; ok {
		return done, nil
	}
	done, found, err := b.cache.Find(layer.Name, layer.key)
	if err == nil && !found {
		done, err = b.make(ctx, layer, below)
	} else if found {
		b.say(layer.Name, "unchanged")
	}
	b.layers[layer.Name] = done
	return done, err
}

func (b *builder) make(ctx context.Context, layer keyed, below []cache.Layer) (cache.Layer, error) {
	began := time.Now()
	work, err := b.cache.Work()
	if err != nil {
		return cache.Layer{}, err
	}
	defer func() { _ = os.RemoveAll(work) }() // otherwise the next build does
	log, err := b.cache.Log(layer.Name)
	if err != nil {
		return cache.Layer{}, err
	}
	defer log.Close()

	spec := rootfs.Spec{
		Layer:      layer.Name,
		Work:       work,
		Apt:        b.cache.Apt(),
		Update:     b.update,
		Suite:      b.release.Suite,
		Sources:    b.sources(),
		AptOptions: b.release.AptOptions,
	}
	for _, lower := range slices.Backward(below) {
		spec.Lower = append(spec.Lower, lower.Files)
	}
	err = rootfs.Make(ctx, spec, b.cache.Lock(), log, func(line string) { b.say(layer.Name, line) })
	if ctx.Err() != nil {
		return cache.Layer{}, err // the user who stopped the build knows the reason
	}
	if err != nil {
		return cache.Layer{}, withLog(err, log)
	}
	if layer.Parent != "" {
		b.update = false
	}
	b.say(layer.Name, fmt.Sprintf("made in %.1f s; packing", time.Since(began).Seconds()))
	return b.pack(layer, spec)
}

// pack adds a layer to the cache.
func (b *builder) pack(layer keyed, spec rootfs.Spec) (cache.Layer, error) {
	began := time.Now()
	var files string
	if isParent(layer.Name) || holdsFile(layer.Name) {
		files = spec.Upper()
	}
	done, err := b.cache.Add(layer.Name, layer.key, files, func(w io.Writer) error {
		return ocitar.Write(w, spec.Upper(), ocitar.Options{
			Lower: spec.Lower,
			Empty: []string{"dev", "proc", "run", "sys", "tmp"},
		})
	})
	if err != nil {
		return cache.Layer{}, err
	}
	b.say(layer.Name, fmt.Sprintf("packed in %.1f s; %d MB, compressed %d MB",
		time.Since(began).Seconds(), done.Length/1e6, done.Size/1e6))
	return done, nil
}

func isParent(name string) bool {
	return slices.ContainsFunc(recipe.Layers(), func(l recipe.Layer) bool { return l.Parent == name })
}

func holdsFile(name string) bool {
	return slices.ContainsFunc(recipe.Images(), func(i recipe.Image) bool { return i.Layer == name && i.File != "" })
}

// say reports a step of the next layer.
func (b *builder) say(layer, line string) {
	b.Progress(fmt.Sprintf("layer %d of %d, %s: %s", len(b.layers)+1, b.all, layer, line))
}

func layersOf(images []recipe.Image) int {
	names := map[string]bool{}
	for _, image := range images {
		if image.Layer != "" {
			for _, layer := range recipe.Chain(image.Layer) {
				names[layer.Name] = true
			}
		}
	}
	return len(names)
}
