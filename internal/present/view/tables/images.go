package tables

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"kolla.openstack.org/kolla/internal/base/foreign"
	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/internal/present/status"
)

// Images is the list of the images of a cloud.
type Images struct {
	Format string  `json:"format_version"`
	Images []Image `json:"images"`
	// FullNodes are the nodes that report as many images as kubelets report at most. They may have
	// more images.
	FullNodes []string `json:"full_nodes,omitempty"`
}

// Image is an image of a cloud.
type Image struct {
	Image  string   `json:"image"`            // without the digest
	Digest string   `json:"digest,omitempty"` // that the pods name
	UsedBy []string `json:"used_by"`          // addresses of blocks
	// Builds are the builds on the nodes; absent without a look at the nodes.
	Builds []Build `json:"builds,omitempty"`
}

// Build is one of the images that nodes have under the same reference.
type Build struct {
	Digest string   `json:"digest"`
	Nodes  []string `json:"nodes"`
}

// Print prints the list as a table.
func (l Images) Print(out io.Writer) error {
	if len(l.Images) == 0 {
		fmt.Fprintln(out, "The configuration has no images.")
		return nil
	}
	table := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	fmt.Fprintln(table, "IMAGE\tDIGEST\tUSED BY")
	for _, i := range l.Images {
		foreign.Fprintf(table, "%s\t%s\t%s\n", i.Image, shortDigest(i.Digest), words.Few(i.UsedBy, 3))
		for _, build := range i.Builds {
			foreign.Fprintf(table, "\t%s\ton %s: %s\n", shortDigest(build.Digest), words.Count(len(build.Nodes), "node"), words.Few(build.Nodes, 3))
		}
	}
	if err := table.Flush(); err != nil || len(l.FullNodes) == 0 {
		return err
	}
	foreign.Fprintf(out, "\n%s reported only the largest images, and may have others: %s.\n", words.Count(len(l.FullNodes), "node"), strings.Join(l.FullNodes, ", "))
	return nil
}

// LockChanges prints what a new lock changes.
func LockChanges(out io.Writer, before, after map[string]string) {
	all := maps.Clone(before)
	maps.Copy(all, after)
	for _, reference := range slices.Sorted(maps.Keys(all)) {
		if old, now := before[reference], after[reference]; old != now {
			foreign.Fprintf(out, "%s: %s -> %s\n", reference, shortDigest(old), shortDigest(now))
		}
	}
}

// shortDigest abbreviates a digest; empty: there is none.
func shortDigest(digest string) string {
	if digest == "" {
		return "none"
	}
	return status.ShortDigest(digest)
}
