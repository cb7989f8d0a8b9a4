install -d /opt/mysqld_exporter
ln -s /usr/bin/prometheus-mysqld-exporter /opt/mysqld_exporter/mysqld_exporter
