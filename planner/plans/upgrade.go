package plans

import (
	"slices"
	"time"
)

// Upgrade is a change of the OpenStack release, or of the distribution of the images, by a plan.
type Upgrade struct {
	// From is what the cloud runs, and To what the configuration declares. They are equal if
	// single services change, or if an earlier apply did not change all of them.
	From Images `json:"from"`
	To   Images `json:"to"`
	// Services are the services whose images change, by name.
	Services []ServiceUpgrade `json:"services,omitempty"`
	// Backward: the cloud or a service goes back to an older release.
	Backward bool `json:"backward,omitempty"`
	// Databases names the services whose tables the jobs of the new release may change.
	Databases []string `json:"databases,omitempty"`
	// Checks names the services that are asked first whether they can be upgraded.
	Checks []string `json:"checks,omitempty"`
	// Versions are the changes of programs that convert their own data.
	Versions []VersionChange `json:"versions,omitempty"`
	// Options are the options of the configuration that the new release changes, by their places.
	Options []OptionChange `json:"options,omitempty"`
	// Disturbs has a text for each workload whose pods a rollout replaces: the effect on the node of such a pod, and
	// the workload's name. "servers of the node lose their network (openvswitch-ovs)".
	Disturbs []string `json:"disturbs,omitempty"`
	// Waiting names the workloads whose images change, and whose pods wait for a rollout since an earlier change.
	Waiting []string `json:"waiting,omitempty"`
	// Processors is the level that the new images need and the old ones do not: "x86-64-v3".
	Processors string `json:"processors,omitempty"`
	// Backup is the newest backup of the cloud; nil: nobody has looked for it.
	Backup *Backup `json:"backup,omitempty"`
}

// ChangesRelease reports whether the release of the cloud or of a service changes, and not only the distribution of
// the images.
func (u *Upgrade) ChangesRelease() bool {
	return u.From.Release != u.To.Release || slices.ContainsFunc(u.Services, func(s ServiceUpgrade) bool { return s.From.Release != s.To.Release })
}

// Backup is the newest backup by a CronJob of the cluster. It is zero if no CronJob makes backups.
type Backup struct {
	CronJob string    `json:"cron_job,omitempty"` // made it, or will make the first one: "openstack/backup"
	At      time.Time `json:"at,omitzero"`        // when it was complete; zero: there is none yet
	Unknown string    `json:"unknown,omitempty"`  // the reason why it is not known
}

// Images are the OpenStack release and the distribution of images. Both may be empty: unknown.
type Images struct {
	Release string `json:"release,omitempty"` // "2025.1"
	Distro  string `json:"distro,omitempty"`  // "rocky-9"
}

// String returns the default tag of the images: "2025.1-rocky-9".
func (i Images) String() string {
	if i.Distro == "" {
		return i.Release
	}
	return i.Release + "-" + i.Distro
}

// ServiceUpgrade is the change of a service's images. If its images have several tags, it is the
// first change.
type ServiceUpgrade struct {
	Name  string `json:"name"`
	Block string `json:"block"`
	From  Images `json:"from"`
	To    Images `json:"to"`
}

// VersionChange is the change of a program: "MariaDB 10.11 → 11.4".
type VersionChange struct {
	Program string `json:"program"`
	From    string `json:"from"`
	To      string `json:"to"`
}

// OptionChange is an option that a configuration sets, and that a release changes.
type OptionChange struct {
	// Kind is "removed", "renamed", "deprecated", or "unsuitable": the service does not accept the value any more.
	Kind    string `json:"kind"`
	Option  string `json:"option"`        // "[api] max_limit"
	Now     string `json:"now,omitempty"` // its new name; empty: there is none, or none is known
	Service string `json:"service"`       // that reads the file: "Nova"
	File    string `json:"file"`          // "nova.conf"
	Since   string `json:"since"`         // the first release with the change: "2025.2"
	Source  string `json:"source"`        // where it is set: "cloud.hcl:41"
	Detail  string `json:"detail"`        // one or more sentences
}
