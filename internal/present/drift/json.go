package drift

import (
	"io"
	"strings"
	"time"

	"kolla.openstack.org/kolla/internal/base/foreign"
	"kolla.openstack.org/kolla/internal/present/report"
)

// The JSON of a look and of a history. docs/drift.md describes it. A new minor version of the
// format only adds keys.
const jsonFormat = "1.0"

type (
	lookJSON struct {
		Format   string        `json:"format_version"`
		Tool     string        `json:"kolla_version"`
		Cloud    string        `json:"cloud"`
		Server   string        `json:"server"`
		At       time.Time     `json:"looked_at"`
		Seconds  float64       `json:"duration_seconds"`
		Requests int           `json:"requests"`
		Declared int           `json:"declared_objects"`
		Drifted  int           `json:"drifted_objects"`
		Pending  int           `json:"pending_changes"`
		Readers  int           `json:"changes_by_secrets"`
		Drift    []fieldJSON   `json:"drift"`
		Not      []notJSON     `json:"not_compared"`
		Certs    []Certificate `json:"certificates,omitempty"`
		Orphans  *[]orphanJSON `json:"orphans,omitempty"`
		Unlisted *[]string     `json:"orphans_not_listed,omitempty"`
	}
	fieldJSON struct {
		Address    string    `json:"address"`
		Service    string    `json:"service"`
		Kind       string    `json:"kind"`
		Namespace  string    `json:"namespace,omitempty"`
		Name       string    `json:"name"`
		Change     Change    `json:"change"`
		Path       string    `json:"path,omitempty"`
		Before     any       `json:"before"`
		After      any       `json:"after"`
		Sensitive  bool      `json:"sensitive"`
		Manager    string    `json:"manager,omitempty"`
		Program    string    `json:"tool,omitempty"`
		Written    time.Time `json:"written_at,omitzero"`
		Registered string    `json:"registered,omitempty"`
		Since      time.Time `json:"first_seen"`
		Stays      bool      `json:"stays"`
	}
	notJSON struct {
		Address string `json:"address"`
		Service string `json:"service"`
		Why     string `json:"reason"`
		Advice  string `json:"advice,omitempty"`
	}
	orphanJSON struct {
		APIVersion string    `json:"api_version"`
		Kind       string    `json:"kind"`
		Namespace  string    `json:"namespace,omitempty"`
		Name       string    `json:"name"`
		Labelled   bool      `json:"labelled"`
		Manager    string    `json:"manager,omitempty"`
		Program    string    `json:"tool,omitempty"`
		Created    time.Time `json:"created_at"`
	}
	historyJSON struct {
		Format  string     `json:"format_version"`
		Cloud   string     `json:"cloud"`
		Looked  time.Time  `json:"looked_at,omitzero"`
		Since   time.Time  `json:"since"`
		Entries []pastJSON `json:"history"`
	}
	pastJSON struct {
		Address string    `json:"address"`
		Change  Change    `json:"change"`
		Path    string    `json:"path,omitempty"`
		Manager string    `json:"manager,omitempty"`
		Program string    `json:"tool,omitempty"`
		First   time.Time `json:"first_seen"`
		Last    time.Time `json:"last_seen"`
		Gone    time.Time `json:"gone_at,omitzero"`
	}
)

// JSON writes a look.
func (l *Look) JSON(w io.Writer) error {
	out := lookJSON{
		Format: jsonFormat, Tool: l.Tool, Cloud: l.Cloud, Server: l.Server, At: l.At.UTC(), Seconds: l.Took.Round(time.Microsecond).Seconds(),
		Requests: l.Requests, Declared: l.Declared, Drifted: l.Drifted(), Pending: l.Pending, Readers: l.Readers,
		Drift: []fieldJSON{}, Not: []notJSON{}, Certs: l.Certificates,
	}
	for _, f := range l.Fields {
		out.Drift = append(out.Drift, fieldJSON{
			Address: f.Address.String(), Service: Service(f.Address), Kind: f.Ref.GVK.Kind, Namespace: f.Ref.Namespace, Name: f.Ref.Name,
			Change: f.Change, Path: f.Path, Before: f.Before, After: f.After, Sensitive: f.Sensitive,
			Manager: f.Manager, Program: program(f.Manager), Written: f.Written, Registered: f.Registered, Since: f.Since, Stays: f.Stays,
		})
	}
	for _, n := range l.NotCompared {
		out.Not = append(out.Not, notJSON{n.Address.String(), Service(n.Address), n.Why, n.Advice})
	}
	if l.Orphans != nil {
		listed, unlisted := []orphanJSON{}, append([]string{}, l.Orphans.NotListed...)
		for _, o := range l.Orphans.Objects {
			listed = append(listed, orphanJSON{
				APIVersion: o.Ref.GVK.GroupVersion().String(), Kind: o.Ref.GVK.Kind, Namespace: o.Ref.Namespace, Name: o.Ref.Name,
				Labelled: o.Labelled, Manager: o.Manager, Program: program(o.Manager), Created: o.Created,
			})
		}
		out.Orphans, out.Unlisted = &listed, &unlisted
	}
	return foreign.JSON(w, out, "  ")
}

// JSON writes the entries since a time.
func (h *History) JSON(w io.Writer, since time.Time) error {
	out := historyJSON{Format: jsonFormat, Cloud: h.Cloud, Looked: h.Looked, Since: since.UTC(), Entries: []pastJSON{}}
	for _, e := range h.Since(since) {
		out.Entries = append(out.Entries, pastJSON{e.Address, e.Change, e.Path, e.Manager, program(e.Manager), e.First, e.Last, e.Gone})
	}
	return foreign.JSON(w, out, "  ")
}

// program returns the command behind a field manager.
func program(manager string) string {
	if strings.TrimSpace(manager) == "" {
		return ""
	}
	return report.Tool(manager)
}
