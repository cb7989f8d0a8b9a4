package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"filippo.io/age"
	"github.com/vbauerster/mpb/v8/decor"
	"k8s.io/apimachinery/pkg/types"

	"kolla.openstack.org/kolla/internal/base/failure"
	"kolla.openstack.org/kolla/internal/base/words"
)

// Text is an item whose content this process already has, such as the state.
type Text struct {
	Address string // a plain word
	What    string
	Content []byte
}

// Save writes a backup of the workloads, one after the other, and of the texts, and returns the complete
// manifest. about has the properties of the cloud. A backup that fails is removed again.
func Save(ctx context.Context, c *Cluster, target Target, name string, about Manifest, workloads []Workload, texts []Text, recipients []age.Recipient) (*Manifest, error) {
	pods := make([]types.NamespacedName, len(workloads))
	for i, w := range workloads {
		var err error
		if pods[i], err = c.readyPod(ctx, w); err != nil {
			return nil, err
		}
	}
	there, err := target.Backups(ctx)
	if err != nil {
		return nil, err
	}
	if slices.Contains(there, name) {
		return nil, failure.New("There is a backup with this name", fmt.Sprintf("%s has %s already. Try again.", target, name))
	}
	m := about
	m.Format = Format
	err = func() error {
		for i, w := range workloads {
			c.say(w.Address, "saving %s from pod %s", w.Backup.What, pods[i].Name)
			item, err := write(ctx, target, name, Item{Address: w.Address, What: w.Backup.What, Image: w.Image()}, recipients, func(to io.Writer) error {
				return receive(ctx, c.Shell, pods[i], w.Backup.Container, w.Backup.Save, to)
			})
			if err != nil {
				return fmt.Errorf("save the %s of %s: %w", w.Backup.What, w.Address, err)
			}
			c.say(w.Address, "saved %s, %s of data, after %s", Bytes(item.Size), Bytes(item.Unpacked), words.Duration(time.Duration(item.Seconds*float64(time.Second))))
			m.Items = append(m.Items, item)
		}
		for _, text := range texts {
			item, err := write(ctx, target, name, Item{Address: text.Address, What: text.What}, recipients, func(to io.Writer) error {
				_, err := to.Write(text.Content)
				return err
			})
			if err != nil {
				return fmt.Errorf("save the %s: %w", text.What, err)
			}
			m.Items = append(m.Items, item)
		}
		m.Ended = time.Now().UTC().Truncate(time.Second)
		return writeManifest(ctx, target, name, &m)
	}()
	if err != nil {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupTimeout)
		defer cancel()
		return nil, errors.Join(err, target.Remove(ctx, name))
	}
	return &m, nil
}

// write writes the file of an item with the data that content writes, and returns the complete item.
func write(ctx context.Context, target Target, name string, item Item, recipients []age.Recipient, content func(io.Writer) error) (Item, error) {
	began := time.Now()
	item.File = fileOf(item.Address)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	file, err := target.Create(ctx, name, item.File)
	if err != nil {
		return item, err
	}
	data, err := seal(file, recipients)
	if err == nil {
		err = content(data)
	}
	if err == nil {
		err = data.Close()
	}
	if err != nil {
		cancel() // the file is not to be completed
	}
	if closing := file.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return item, err
	}
	item.Size, item.SHA256, item.Unpacked = data.file.size, data.file.sum(), data.unpacked
	item.Seconds = time.Since(began).Round(time.Millisecond).Seconds()
	return item, nil
}

// Bytes returns a size in words: "97.0 MB", "6 bytes".
func Bytes(size int64) string {
	if size < 1000 {
		return words.Count(int(size), "byte")
	}
	return fmt.Sprintf("% .1f", decor.SizeB1000(size))
}
