package smoke

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
)

// bootable is an image from which a server may boot.
type bootable struct {
	item
	Format  string `json:"disk_format"`
	Size    int64  `json:"size"`         // bytes
	Virtual int64  `json:"virtual_size"` // bytes; 0: unknown
	MinDisk int64  `json:"min_disk"`     // GiB
	MinRAM  int64  `json:"min_ram"`      // MiB
}

// disk returns the size of the disk that the image needs, in GiB.
func (b bootable) disk() int64 {
	const gib = 1 << 30
	return max(b.MinDisk, (max(b.Size, b.Virtual)+gib-1)/gib)
}

// formats are the formats of images that are disks.
var formats = []string{"raw", "qcow2", "vmdk", "vdi", "vhd", "vhdx", "ploop"}

// sizes returns the ID of the image, and the flavor, of the server. It is an *unmadeError if nobody named any, and the
// cloud has none.
func (t *trial) sizes(ctx context.Context) (imageID string, size flavor, err error) {
	var chosen bootable
	if name := t.cloud.Image; name != "" {
		id, err := t.user.find(ctx, image, "images", name)
		switch {
		case err != nil:
			return "", size, err
		case id == "":
			return "", size, &faultError{problem: fmt.Sprintf("There is no image %s that all projects may use (-image).", name)}
		}
		if err := t.user.call(ctx, http.MethodGet, image, "images/"+id, nil, &chosen); err != nil {
			return "", size, err
		}
	} else {
		var found struct{ Images []bootable }
		if err := t.user.call(ctx, http.MethodGet, image, "images?visibility=public&status=active&sort=size:asc&limit=100", nil, &found); err != nil {
			return "", size, err
		}
		at := slices.IndexFunc(found.Images, func(b bootable) bool { return slices.Contains(formats, b.Format) })
		if at < 0 {
			return "", size, &unmadeError{"The cloud has no public image of a disk. Name one with -image."}
		}
		chosen = found.Images[at]
	}
	if name := t.cloud.Flavor; name != "" {
		size, err = t.flavor(ctx, func(f flavor) bool { return f.ID == name || f.Name == name })
		if err == nil && size.ID == "" {
			err = &faultError{problem: fmt.Sprintf("There is no public flavor %s (-flavor).", name)}
		}
		return chosen.ID, size, err
	}
	size, err = t.flavor(ctx, func(f flavor) bool { return f.Disk >= max(1, chosen.disk()) && f.RAM >= chosen.MinRAM })
	if err == nil && size.ID == "" {
		err = &unmadeError{fmt.Sprintf("The cloud has no public flavor with a disk of %d GiB and %d MiB of memory, which image %s needs. Name one with -flavor.", max(1, chosen.disk()), chosen.MinRAM, chosen.Name)}
	}
	return chosen.ID, size, err
}

// flavor is a size of servers.
type flavor struct {
	item
	RAM   int64 `json:"ram"`   // MiB
	Disk  int64 `json:"disk"`  // GiB
	VCPUs int64 `json:"vcpus"` // processors
}

// flavor returns the smallest flavor that fits; without an ID: there is none.
func (t *trial) flavor(ctx context.Context, fits func(flavor) bool) (flavor, error) {
	var found struct{ Flavors []flavor }
	if err := t.user.call(ctx, http.MethodGet, compute, "flavors/detail", nil, &found); err != nil {
		return flavor{}, err
	}
	fitting := slices.DeleteFunc(found.Flavors, func(f flavor) bool { return !fits(f) })
	if len(fitting) == 0 {
		return flavor{}, nil
	}
	return slices.MinFunc(fitting, func(a, b flavor) int {
		return cmp.Or(cmp.Compare(a.RAM, b.RAM), cmp.Compare(a.VCPUs, b.VCPUs), cmp.Compare(a.Disk, b.Disk))
	}), nil
}
