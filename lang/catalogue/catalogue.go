// Package catalogue describes definitions of services as they are written, without a cloud and
// without evaluating them.
package catalogue

import (
	"bytes"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/internal/diag"
	"kolla.openstack.org/kolla/lang/internal/layers"
	"kolla.openstack.org/kolla/lang/internal/source"
	"kolla.openstack.org/kolla/lang/internal/values"
	"kolla.openstack.org/kolla/lang/schema"
)

// Definition describes a definition. Values that depend on the cloud are left out.
type Definition struct {
	Name        string
	Description string
	From        string // name of the definition that it starts from
	Abstract    bool   // only for others to start from; only Source is filled in then
	Inputs      []Input
	Registered  []Registered
	Ports       []Port
	Images      []string // names of Kolla images, sorted
	Databases   []string
	Secrets     []Secret
	Configs     []Config
	Workloads   []Workload
	Jobs        []string
	Powers      []Powers
	// Needs are the services of its references, databases, queues, users and endpoints. Sorted.
	Needs []string
	// Source is the source of the definition, with the comment before it and the local values of
	// the catalogue that it reads.
	Source []byte
}

// Input is an input of a definition.
type Input struct {
	Name, Type, Description string
	Default                 string // empty: a service has to give a value
}

// Registered is a queue, user, role or endpoint that a definition has on another service.
type Registered struct {
	Kind, Name string // of the block
	// Arguments are the arguments of the block in the source: `roles = ["admin"]`.
	Arguments []string
}

// Powers are the additional rights of a workload, a job, an init container or a sidecar.
type Powers struct {
	Kind, Name string // of the block; for init containers and sidecars "WORKLOAD/NAME"
	// Powers are arguments in the source, `host_pid = true`, and paths on the node.
	Powers []string
	Reason string
}

// Port is a port of a definition.
type Port struct {
	Name   string
	Number int // 0: depends on the cloud
	Expose bool
}

// Secret is a secret of a definition.
type Secret struct {
	Name, Kind string
	Loss       string // consequence of losing it
}

// Config is a config file of a definition.
type Config struct{ Name, Path string }

// Workload is a workload of a definition.
type Workload struct{ Name, Kind string }

// Describe describes the definitions in the *.hcl files of a file system, in order of their
// names.
func Describe(fsys fs.FS) ([]Definition, hcl.Diagnostics) {
	d := &describer{report: diag.New(), files: map[string]*hcl.File{}}
	reader := &source.Reader{Report: d.report, Files: d.files, Contents: map[string]string{}}
	catalogue, ok := reader.Catalogue(fsys, configs.CatalogueDir)
	if !ok {
		return nil, d.report.Sorted()
	}
	var out []Definition
	whole := layers.Bases(d.report, nil, catalogue)
	for _, b := range catalogue.All("definition") {
		info := Definition{Name: b.Label, Description: argument(b, "description"), Abstract: true}
		if !layers.IsAbstract(b) {
			info = d.definition(whole.One("definition", b.Label))
		}
		info.From = argument(b, schema.FromAttribute.Name)
		// A copy outside of the catalogue reads the same files.
		info.Source = bytes.ReplaceAll(d.wholeSource(catalogue, b), []byte("${path.module}"), []byte(configs.CatalogueDir))
		out = append(out, info)
	}
	slices.SortFunc(out, func(a, b Definition) int { return strings.Compare(a.Name, b.Name) })
	return out, d.report.Sorted()
}

// describer reads definitions.
type describer struct {
	report *diag.Reporter
	files  map[string]*hcl.File
}

// definition describes a definition that is put together with those that it starts from.
func (d *describer) definition(b *source.Block) Definition {
	info := Definition{
		Name:        b.Label,
		Description: argument(b, "description"),
		Databases:   b.Labels("database"),
		Jobs:        b.Labels("job"),
	}
	for _, i := range b.All(schema.InputType.Name) {
		input := Input{Name: i.Label, Type: "any", Description: argument(i, "description")}
		for name, into := range map[string]*string{"type": &input.Type, "default": &input.Default} {
			if attr := i.Attributes[name]; attr != nil {
				*into = source.Text(d.files, attr.Expr.Range())
			}
		}
		info.Inputs = append(info.Inputs, input)
	}
	for _, kind := range []string{"queue", "user", "identity_role", "endpoint"} {
		for _, r := range b.All(kind) {
			registered := Registered{Kind: kind, Name: r.Label}
			for _, attr := range r.Ordered() {
				registered.Arguments = append(registered.Arguments, attr.Name+" = "+source.Text(d.files, attr.Expr.Range()))
			}
			info.Registered = append(info.Registered, registered)
		}
	}
	for _, kind := range []string{"job", "workload"} {
		for _, c := range b.All(kind) {
			info.Powers = append(info.Powers, d.powersOf(c, "")...)
		}
	}
	for _, p := range b.All("port") {
		number, _ := strconv.Atoi(argument(p, "number"))
		info.Ports = append(info.Ports, Port{p.Label, number, argument(p, "expose") == "true"})
	}
	for _, s := range b.All("secret") {
		info.Secrets = append(info.Secrets, Secret{s.Label, argument(s, "kind"), argument(s, "loss")})
	}
	for _, c := range b.All("config") {
		info.Configs = append(info.Configs, Config{c.Label, argument(c, "path")})
	}
	for _, w := range b.All("workload") {
		info.Workloads = append(info.Workloads, Workload{w.Label, argument(w, "kind")})
	}
	info.Images = imagesOf(b)
	info.Needs = Needs(b)
	return info
}

// powersOf returns the powers of a block with a container and of the blocks inside.
func (d *describer) powersOf(b *source.Block, within string) []Powers {
	info := Powers{Kind: b.Type.Name, Name: within + b.Label, Reason: argument(b, schema.ReasonAttribute.Name)}
	for _, a := range slices.Concat(schema.PowerAttributes, schema.NamespaceAttributes) {
		if attr := b.Attributes[a.Name]; attr != nil && argument(b, a.Name) != "false" {
			info.Powers = append(info.Powers, a.Name+" = "+source.Text(d.files, attr.Expr.Range()))
		}
	}
	for name, value := range map[string]string{"host_network": "true", "start": "kolla", "user": "0"} {
		if attr := b.Attributes[name]; attr != nil && argument(b, name) == value {
			info.Powers = append(info.Powers, name+" = "+source.Text(d.files, attr.Expr.Range()))
		}
	}
	for _, v := range b.All(schema.VolumeType.Name) {
		if attr := v.Attributes["host"]; attr != nil {
			info.Powers = append(info.Powers, "volume "+source.Text(d.files, attr.Expr.Range()))
		}
	}
	slices.Sort(info.Powers)
	var out []Powers
	if len(info.Powers) > 0 {
		out = append(out, info)
	}
	for _, child := range b.Blocks {
		if child.Type == schema.InitType || child.Type == schema.SidecarType {
			out = append(out, d.powersOf(child, info.Name+"/")...)
		}
	}
	return out
}

// wholeSource returns the source of a definition with copies of the local values that it shares
// with other definitions.
func (d *describer) wholeSource(catalogue, b *source.Block) []byte {
	source := withComment(b.Whole, d.files[b.Header.Filename].Bytes)
	shared := d.sharedLocals(catalogue, b)
	if len(shared) == 0 {
		return source
	}
	head, tail, _ := bytes.Cut(source, []byte("{\n"))
	return slices.Concat(head, []byte("{\n  locals {\n"), bytes.Join(shared, []byte("\n")), []byte("  }\n\n"), tail)
}

// sharedLocals returns the local values of the catalogue that a definition reads, with their
// comments, indented for a block inside the definition.
func (d *describer) sharedLocals(catalogue, definition *source.Block) [][]byte {
	read := map[string]bool{}
	var note func(*source.Block)
	note = func(b *source.Block) {
		for _, attr := range b.Ordered() {
			noteLocals(attr.Expr, read)
		}
		for _, child := range b.Blocks {
			note(child)
		}
	}
	note(definition)
	for _, attr := range source.Locals(d.report, definition) {
		delete(read, attr.Name)
	}
	var out [][]byte
	locals := source.Locals(d.report, catalogue)
	for range locals { // a local value may read another
		for _, attr := range locals {
			if read[attr.Name] {
				noteLocals(attr.Expr, read)
			}
		}
	}
	for _, attr := range locals {
		if read[attr.Name] {
			out = append(out, indented(withComment(attr.SrcRange, d.files[attr.SrcRange.Filename].Bytes)))
		}
	}
	return out
}

// Needs returns the services that a definition needs, sorted.
func Needs(b *source.Block) []string {
	out := referredServices(b)
	for _, kind := range []string{"database", "queue", "user", "identity_role", "endpoint"} {
		for _, on := range b.All(kind) {
			if server := argument(on, "server"); server != b.Label { // the server itself
				out = append(out, server)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// referredServices returns the services that the expressions in a block refer to.
func referredServices(b *source.Block) []string {
	var out []string
	for _, attr := range b.Ordered() {
		for _, t := range attr.Expr.Variables() {
			if name, ok := addrs.NameOf(t); ok && t.RootName() == "service" {
				out = append(out, name)
			}
		}
	}
	for _, child := range b.Blocks {
		if child.Type == schema.OwnCheckType { // creates no dependencies
			continue
		}
		out = append(out, referredServices(child)...)
	}
	return out
}

// argument returns the text of a constant argument, or its default.
func argument(b *source.Block, name string) string {
	text, _ := b.Type.Attribute(name).Default.(string)
	attr := b.Attributes[name]
	if attr == nil {
		return text
	}
	text, _ = values.StaticKey(attr.Expr)
	return text
}

// imagesOf returns the images in a block and in the blocks inside.
func imagesOf(b *source.Block) []string {
	var out []string
	if b.Type.Attribute("image") != nil {
		out = append(out, argument(b, "image"))
	}
	for _, child := range b.Blocks {
		out = append(out, imagesOf(child)...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// noteLocals adds the names of the local values that an expression reads.
func noteLocals(expr hcl.Expression, read map[string]bool) {
	for _, t := range expr.Variables() {
		if name, ok := addrs.NameOf(t); ok && t.RootName() == "local" {
			read[name] = true
		}
	}
}

// indented indents lines by two columns.
func indented(text []byte) []byte {
	lines := bytes.SplitAfter(text, []byte("\n"))
	for i, line := range lines {
		if len(bytes.TrimSpace(line)) > 0 {
			lines[i] = append([]byte("  "), line...)
		}
	}
	return bytes.Join(lines, nil)
}

// withComment returns the source of a range from the beginning of its line, with the comment lines
// before it.
func withComment(at hcl.Range, file []byte) []byte {
	start := bytes.LastIndexByte(file[:at.Start.Byte], '\n') + 1
	for start > 0 {
		line := bytes.LastIndexByte(file[:start-1], '\n') + 1
		if !bytes.HasPrefix(bytes.TrimSpace(file[line:start]), []byte("#")) {
			break
		}
		start = line
	}
	return append(slices.Clone(file[start:at.End.Byte]), '\n')
}
