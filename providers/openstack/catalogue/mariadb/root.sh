password=$(sed "s/\\\\/\\\\\\\\/g; s/'/''/g" /run/secrets/root/value)
mariadbd --defaults-file=/etc/mysql/my.cnf --bootstrap <<SQL
FLUSH PRIVILEGES;
CREATE USER IF NOT EXISTS 'root'@'%' IDENTIFIED BY '$password';
ALTER USER 'root'@'%' IDENTIFIED BY '$password';
GRANT ALL PRIVILEGES ON *.* TO 'root'@'%' WITH GRANT OPTION;
SQL
