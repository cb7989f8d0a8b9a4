package build

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"

	"kolla.openstack.org/kolla/internal/dev/devimages/recipe"
)

// Options are the images to build, their sources and the destination.
type Options struct {
	// Out is the directory of the image layout, and Cache is the directory of the layers.
	Out, Cache string
	// Binaries is the directory with the programs of the images that contain a single binary.
	Binaries string
	// Release is the OpenStack release of the packages. If it is empty, it is the default of package
	// recipe.
	Release string
	// Images are names of recipes. If it is empty, the images of the release are built, but those of
	// binaries only if Binaries is set.
	Images []string
	// Prefix (registry and namespace) and Tag are parts of the references of the service images. If
	// they are empty, the defaults of package recipe and of the release apply.
	Prefix, Tag string
	// Mirror is the URL of a Debian mirror, and Security is the URL of its security archive.
	Mirror, Security string
	// Progress is called with each line about the progress.
	Progress func(line string)
}

// choose returns the recipes for the options. It returns an error if the options lack something
// that a recipe needs.
func (o Options) choose(release recipe.Release) ([]recipe.Image, error) {
	all := recipe.Images()
	names := o.Images
	if len(names) == 0 {
		names = release.Images
	}
	var chosen []recipe.Image
	for _, wanted := range names {
		i := slices.IndexFunc(all, func(image recipe.Image) bool { return image.Name == wanted })
		if i < 0 {
			var known []string
			for _, image := range all {
				known = append(known, image.Name)
			}
			return nil, fmt.Errorf("there is no recipe for an image %q; there are %s", wanted, strings.Join(known, ", "))
		}
		chosen = append(chosen, all[i])
	}
	if len(names) == 0 {
		chosen = slices.DeleteFunc(all, func(image recipe.Image) bool {
			return image.Binary != "" && o.Binaries == ""
		})
	}
	for _, image := range chosen {
		if err := o.check(image); err != nil {
			return nil, fmt.Errorf("image %s: %w", image.Name, err)
		}
	}
	return chosen, nil
}

func (o Options) check(image recipe.Image) error {
	if _, err := name.NewTag(o.reference(image), name.StrictValidation); err != nil {
		return fmt.Errorf("prefix and tag make no valid reference: %w", err)
	}
	if image.Binary == "" {
		return nil
	}
	if o.Binaries == "" {
		return errors.New("it holds one program, and no -binaries says where that is")
	}
	program := filepath.Join(o.Binaries, image.Binary)
	info, err := os.Stat(program)
	if err == nil && (!info.Mode().IsRegular() || info.Mode()&0o111 == 0) {
		return fmt.Errorf("%s is not a program", program)
	}
	return err
}

// reference returns the full name of an image.
func (o Options) reference(image recipe.Image) string {
	if image.Binary != "" {
		return recipe.BinaryPrefix + "/" + image.Name + ":" + recipe.BinaryTag
	}
	return cmp.Or(o.Prefix, recipe.Prefix) + "/" + image.Name + ":" + o.Tag
}
