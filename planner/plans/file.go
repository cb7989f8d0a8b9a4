package plans

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/google/renameio/v2"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"kolla.openstack.org/kolla/internal/base/failure"
	safe "kolla.openstack.org/kolla/internal/base/files"
)

// Format is the version of the plan's structure that this kolla writes, and the
// newest that it reads.
const Format = 1

// A plan file is a zip archive of two entries: the plan, and a manifest that identifies the file
// before the plan is read.
const (
	planEntry     = "plan.json"
	manifestEntry = "manifest.json"
)

// manifest is the entry manifest.json.
type manifest struct {
	Kind   string `json:"kind"`   // always manifestKind
	Format int    `json:"format"` // Plan.Format
	ID     string `json:"id"`     // Plan.ID
	Tool   string `json:"tool"`   // Plan.Tool
	SHA256 string `json:"sha256"` // of plan.json, in hexadecimal
}

const manifestKind = "kolla plan"

// Save writes a plan file that only its owner can read. It writes the whole file or nothing.
func Save(path string, plan *Plan) error {
	var b bytes.Buffer
	if err := Write(&b, plan); err != nil {
		return err
	}
	file, err := renameio.NewPendingFile(path, renameio.WithPermissions(0o600))
	if err != nil {
		return fmt.Errorf("save the plan: %w", err)
	}
	defer file.Cleanup() // does nothing once the file is in place
	if _, err := file.Write(b.Bytes()); err != nil {
		return fmt.Errorf("save the plan: %w", err)
	}
	if err := file.CloseAtomicallyReplace(); err != nil {
		return fmt.Errorf("save the plan: %w", err)
	}
	return nil
}

// Write writes the content of a plan file. Literals that came from sensitive
// variables are left out; see providers.DataPart.
func Write(w io.Writer, plan *Plan) error {
	content, err := json.Marshal(plan)
	if err != nil {
		return fmt.Errorf("write plan %s: %w", plan.ID, err)
	}
	if _, err := new(meter).Write(content); err != nil { // Load would reject the plan
		return failure.With(fmt.Errorf("write plan %s: %w", plan.ID, err), "The plan is too large for a file",
			failure.Sentence(err.Error())+". A plan of a part of the cloud is smaller, and an apply without a file has no such limit.")
	}
	sum := sha256.Sum256(content)
	head, err := json.MarshalIndent(manifest{
		Kind:   manifestKind,
		Format: plan.Format,
		ID:     plan.ID,
		Tool:   plan.Tool,
		SHA256: hex.EncodeToString(sum[:]),
	}, "", "  ")
	if err != nil {
		return fmt.Errorf("write plan %s: %w", plan.ID, err)
	}
	archive := zip.NewWriter(w)
	for _, entry := range []struct {
		name    string
		content []byte
	}{{manifestEntry, head}, {planEntry, content}} {
		out, err := archive.Create(entry.name)
		if err == nil {
			_, err = out.Write(entry.content)
		}
		if err != nil {
			return fmt.Errorf("write plan %s: %w", plan.ID, err)
		}
	}
	if err := archive.Close(); err != nil {
		return fmt.Errorf("write plan %s: %w", plan.ID, err)
	}
	return nil
}

// Errors of Load and Read, besides those of the file system. They are wrapped.
var (
	// ErrNotAPlan: the file is something else, or only a part of a plan file.
	ErrNotAPlan = errors.New("not a kolla plan file, or not all of one")
	// ErrDamaged: it is a plan file with changed content.
	ErrDamaged = errors.New("the plan file is damaged")
	// ErrNewer: a newer kolla wrote the file.
	ErrNewer = errors.New("the plan file was written by a newer kolla")
)

// Load reads a plan file in order to show the plan.
func Load(path string) (*Plan, error) { return load(path, safe.Read) }

// LoadTrusted is Load for a plan that will be carried out: only the user and root may have written
// the file.
func LoadTrusted(path string) (*Plan, error) { return load(path, safe.ReadTrusted) }

func load(path string, read func(string, int64) ([]byte, error)) (*Plan, error) {
	content, err := read(path, maxFile)
	if err != nil {
		return nil, explained(fmt.Errorf("load the plan: %w", err))
	}
	plan, err := Read(content)
	if err != nil {
		return nil, explained(fmt.Errorf("load the plan from %s: %w", path, err))
	}
	return plan, nil
}

// Read reads the content of a plan file.
func Read(content []byte) (*Plan, error) {
	archive, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotAPlan, err)
	}
	text, err := entry(archive, manifestEntry)
	if err != nil {
		return nil, err
	}
	var head manifest
	if err := json.Unmarshal(text, &head); err != nil || head.Kind != manifestKind || head.Format < 1 {
		return nil, ErrNotAPlan
	}
	if head.Format > Format {
		return nil, fmt.Errorf("%w (%s): its format is %d, and this one reads up to %d. Apply it with the kolla that wrote it, or make a new plan", ErrNewer, head.Tool, head.Format, Format)
	}
	text, err = entry(archive, planEntry)
	if err != nil {
		return nil, err
	}
	if sum := sha256.Sum256(text); hex.EncodeToString(sum[:]) != head.SHA256 {
		return nil, fmt.Errorf("%w: its checksum does not match", ErrDamaged)
	}
	plan := &Plan{}
	if err := utiljson.Unmarshal(text, plan); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	if plan.ID != head.ID || plan.Format != head.Format {
		return nil, fmt.Errorf("%w: its parts are of different plans", ErrDamaged)
	}
	return plan, nil
}
