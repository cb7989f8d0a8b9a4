package lang

import (
	"bytes"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/internal/source"
	"kolla.openstack.org/kolla/lang/internal/values"
	"kolla.openstack.org/kolla/lang/schema"
)

// DefinitionInfo says what a definition holds, as far as it can be said without a
// cloud.
type DefinitionInfo struct {
	Name        string
	Description string
	Inputs      []InputInfo
	Registered  []RegisteredInfo
	Ports       []PortInfo
	Images      []string // names of Kolla images, sorted
	Databases   []string
	Secrets     []SecretInfo
	Configs     []ConfigInfo
	Workloads   []WorkloadInfo
	Jobs        []string
	Powers      []PowersInfo
	// Needs are the services that it refers to, and that its databases live on.
	// Sorted.
	Needs []string
	// Source is the definition as it is written, with the comment before it, and with the
	// local values of the catalogue that it reads.
	Source []byte
}

// InputInfo is an input of a definition, as it is written.
type InputInfo struct {
	Name, Type, Description string
	Default                 string // empty: a service has to give a value
}

// RegisteredInfo is what a definition has on another service: a queue, a user, a role, an
// endpoint.
type RegisteredInfo struct {
	Kind, Name string // of the block
	// Arguments are those of the block, as they are written: `roles = ["admin"]`.
	Arguments []string
}

// PowersInfo says what a workload, a job, an init step or a sidecar may do beyond others.
type PowersInfo struct {
	Kind, Name string // of the block; of a container beside the main one "WORKLOAD/NAME"
	// Powers are arguments as they are written, `host_pid = true`, and paths of the node.
	Powers []string
	Reason string
}

// PortInfo is a port of a definition.
type PortInfo struct {
	Name   string
	Number int // 0: depends on the cloud
	Expose bool
}

// SecretInfo is a secret of a definition.
type SecretInfo struct {
	Name, Kind string
	Loss       string // what it costs to lose it
}

// ConfigInfo is a config file of a definition.
type ConfigInfo struct{ Name, Path string }

// WorkloadInfo is a workload of a definition.
type WorkloadInfo struct{ Name, Kind string }

// Catalogue describes the definitions in the *.hcl files of a file system, in
// order of their names.
func Catalogue(fsys fs.FS) ([]DefinitionInfo, hcl.Diagnostics) {
	l := newLoader("", Options{Catalogue: fsys})
	catalogue, ok := l.readCatalogue()
	if !ok {
		return nil, l.report.Sorted()
	}
	var out []DefinitionInfo
	for _, b := range catalogue.All("definition") {
		out = append(out, l.definitionInfo(catalogue, b))
	}
	slices.SortFunc(out, func(a, b DefinitionInfo) int { return strings.Compare(a.Name, b.Name) })
	return out, l.report.Sorted()
}

func (l *loader) definitionInfo(catalogue, b *source.Block) DefinitionInfo {
	info := DefinitionInfo{
		Name:        b.Label,
		Description: l.written(b, "description"),
		Databases:   b.Labels("database"),
		Jobs:        b.Labels("job"),
		// A copy elsewhere reads the files of the catalogue too.
		Source: bytes.ReplaceAll(l.wholeSource(catalogue, b), []byte("${path.module}"), []byte(configs.CatalogueDir)),
	}
	for _, i := range b.All(schema.InputType.Name) {
		input := InputInfo{Name: i.Label, Type: "any", Description: l.written(i, "description")}
		for name, into := range map[string]*string{"type": &input.Type, "default": &input.Default} {
			if attr := i.Attributes[name]; attr != nil {
				*into = l.sourceText(attr.Expr.Range())
			}
		}
		info.Inputs = append(info.Inputs, input)
	}
	for _, kind := range []string{"queue", "user", "identity_role", "endpoint"} {
		for _, r := range b.All(kind) {
			registered := RegisteredInfo{Kind: kind, Name: r.Label}
			for _, attr := range r.Ordered() {
				registered.Arguments = append(registered.Arguments, attr.Name+" = "+l.sourceText(attr.Expr.Range()))
			}
			info.Registered = append(info.Registered, registered)
		}
	}
	for _, kind := range []string{"job", "workload"} {
		for _, c := range b.All(kind) {
			info.Powers = append(info.Powers, l.powersOf(c, "")...)
		}
	}
	for _, p := range b.All("port") {
		number, _ := strconv.Atoi(l.written(p, "number"))
		info.Ports = append(info.Ports, PortInfo{p.Label, number, l.written(p, "expose") == "true"})
	}
	for _, s := range b.All("secret") {
		info.Secrets = append(info.Secrets, SecretInfo{s.Label, l.written(s, "kind"), l.written(s, "loss")})
	}
	for _, c := range b.All("config") {
		info.Configs = append(info.Configs, ConfigInfo{c.Label, l.written(c, "path")})
	}
	for _, w := range b.All("workload") {
		info.Workloads = append(info.Workloads, WorkloadInfo{w.Label, l.written(w, "kind")})
	}
	info.Images = l.imagesOf(b)
	info.Needs = l.servicesOf(b)
	return info
}

// powersOf are the powers that a block with a container says, and those in it.
func (l *loader) powersOf(b *source.Block, within string) []PowersInfo {
	info := PowersInfo{Kind: b.Type.Name, Name: within + b.Label, Reason: l.written(b, schema.ReasonAttribute.Name)}
	for _, a := range slices.Concat(schema.PowerAttributes, schema.NamespaceAttributes) {
		if attr := b.Attributes[a.Name]; attr != nil && l.written(b, a.Name) != "false" {
			info.Powers = append(info.Powers, a.Name+" = "+l.sourceText(attr.Expr.Range()))
		}
	}
	for name, value := range map[string]string{"host_network": "true", "start": "kolla", "user": "0"} {
		if attr := b.Attributes[name]; attr != nil && l.written(b, name) == value {
			info.Powers = append(info.Powers, name+" = "+l.sourceText(attr.Expr.Range()))
		}
	}
	for _, v := range b.All(schema.VolumeType.Name) {
		if attr := v.Attributes["host"]; attr != nil {
			info.Powers = append(info.Powers, "volume "+l.sourceText(attr.Expr.Range()))
		}
	}
	slices.Sort(info.Powers)
	var out []PowersInfo
	if len(info.Powers) > 0 {
		out = append(out, info)
	}
	for _, child := range b.Blocks {
		if child.Type == schema.InitType || child.Type == schema.SidecarType {
			out = append(out, l.powersOf(child, info.Name+"/")...)
		}
	}
	return out
}

// written is the value of an attribute as text, where it depends on nothing.
func (l *loader) written(b *source.Block, name string) string {
	text, _ := b.Type.Attribute(name).Default.(string)
	attr := b.Attributes[name]
	if attr == nil {
		return text
	}
	text, _ = values.StaticKey(attr.Expr)
	return text
}

// imagesOf are the images that anything in a block runs.
func (l *loader) imagesOf(b *source.Block) []string {
	var out []string
	if b.Type.Attribute("image") != nil {
		out = append(out, l.written(b, "image"))
	}
	for _, child := range b.Blocks {
		out = append(out, l.imagesOf(child)...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// servicesOf are the services that a definition needs.
func (l *loader) servicesOf(b *source.Block) []string {
	out := referredServices(b)
	for _, kind := range []string{"database", "queue", "user", "identity_role", "endpoint"} {
		for _, d := range b.All(kind) {
			if server := l.written(d, "server"); server != b.Label { // it registers itself
				out = append(out, server)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// referredServices are the services that the expressions in a block refer to.
func referredServices(b *source.Block) []string {
	var out []string
	for _, attr := range b.Ordered() {
		for _, t := range attr.Expr.Variables() {
			if name, ok := nameOf(t); ok && t.RootName() == "service" {
				out = append(out, name)
			}
		}
	}
	for _, child := range b.Blocks {
		out = append(out, referredServices(child)...)
	}
	return out
}

// wholeSource is the source of a definition, which needs nothing else of the catalogue: the
// local values that it shares with others are its own.
func (l *loader) wholeSource(catalogue, b *source.Block) []byte {
	source := withComment(b.Whole, l.config.Files[b.Header.Filename].Bytes)
	shared := l.sharedLocals(catalogue, b)
	if len(shared) == 0 {
		return source
	}
	head, tail, _ := bytes.Cut(source, []byte("{\n"))
	return slices.Concat(head, []byte("{\n  locals {\n"), bytes.Join(shared, []byte("\n")), []byte("  }\n\n"), tail)
}

// sharedLocals are the local values of the catalogue that a definition reads, each with the
// comment before it, as lines of a block in it.
func (l *loader) sharedLocals(catalogue, definition *source.Block) [][]byte {
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
	for _, attr := range localsIn(l.report, definition) {
		delete(read, attr.Name)
	}
	var out [][]byte
	locals := localsIn(l.report, catalogue)
	for range locals { // one may read another
		for _, attr := range locals {
			if read[attr.Name] {
				noteLocals(attr.Expr, read)
			}
		}
	}
	for _, attr := range locals {
		if read[attr.Name] {
			out = append(out, indented(withComment(attr.SrcRange, l.config.Files[attr.SrcRange.Filename].Bytes)))
		}
	}
	return out
}

// noteLocals notes the names of the local values that an expression reads.
func noteLocals(expr hcl.Expression, read map[string]bool) {
	for _, t := range expr.Variables() {
		if name, ok := nameOf(t); ok && t.RootName() == "local" {
			read[name] = true
		}
	}
}

// indented are lines, two columns further in.
func indented(text []byte) []byte {
	lines := bytes.SplitAfter(text, []byte("\n"))
	for i, line := range lines {
		if len(bytes.TrimSpace(line)) > 0 {
			lines[i] = append([]byte("  "), line...)
		}
	}
	return bytes.Join(lines, nil)
}

// withComment is the source at a range, from the beginning of its line on, with the comment
// lines right before it.
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
